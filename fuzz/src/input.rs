//! A fuzzer's bytes as a stream of choices. After its end every choice is zero.

/// Where the reading is.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    left: &'a [u8],
}

impl<'a> Input<'a> {
    /// From the first byte on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// Nothing is left to choose by.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, left)) = self.left.split_first() else { return 0 };
        self.left = left;
        *first
    }

    /// The next two bytes.
    pub fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// The next four bytes.
    pub fn word(&mut self) -> u32 {
        u32::from(self.short()) | u32::from(self.short()) << 16
    }

    /// A number below `bound`, which is between 1 and 256.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// One of these items, at most 256.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Yes in `n` of 256 cases.
    pub fn chance(&mut self, n: u8) -> bool {
        self.byte() < n
    }
}
