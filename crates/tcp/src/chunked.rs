//! A vector that grows by one chunk at a time. A vector that doubles copies all its elements, and an attacker could choose when:
//! among ten thousand connections, the packet that opens one more would cost as much as a hundred others.

use core::ops::{Index, IndexMut};

/// Elements by index, in chunks of `CHUNK`.
#[derive(Clone, Debug)]
pub(crate) struct Chunked<T, const CHUNK: usize = 64> {
    /// Every chunk is full except the last one in use.
    chunks: Vec<Box<[T; CHUNK]>>,
    len: usize,
}

impl<T, const CHUNK: usize> Default for Chunked<T, CHUNK> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Default, const CHUNK: usize> Chunked<T, CHUNK> {
    pub fn push(&mut self, value: T) {
        if self.len == self.chunks.len() * CHUNK {
            self.chunks.push(Box::new(core::array::from_fn(|_| T::default())));
        }
        self.len += 1;
        let last = self.len - 1;
        self[last] = value;
    }

    /// Removes the last element. Keeps one empty chunk, so that a length that oscillates does not allocate.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        let value = core::mem::take(&mut self[last]);
        self.len = last;
        self.chunks.truncate(self.len / CHUNK + 2);
        Some(value)
    }

    /// Returns the element at `index`; between the length and the end of the last chunk it is the default value. Comparing with
    /// the length as well would slow down every packet.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK).map(|chunk| &chunk[index % CHUNK])
    }

    /// Like [`Self::get`].
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index / CHUNK).map(|chunk| &mut chunk[index % CHUNK])
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flat_map(|chunk| chunk.iter_mut()).take(self.len)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).take(self.len)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Memory of the chunks, in bytes.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * size_of::<[T; CHUNK]>() + self.chunks.capacity() * size_of::<usize>()
    }
}

/// # Panics
/// Beyond the last chunk.
impl<T, const CHUNK: usize> Index<usize> for Chunked<T, CHUNK> {
    type Output = T;
    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.chunks[index / CHUNK][index % CHUNK]
    }
}

impl<T, const CHUNK: usize> IndexMut<usize> for Chunked<T, CHUNK> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.chunks[index / CHUNK][index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_vector_that_never_moves_its_elements() {
        let mut chunked = Chunked::<u32>::default();
        for n in 0..1_000u32 {
            chunked.push(n);
        }
        let first = core::ptr::from_ref(&chunked[0]);
        (1_000..5_000).for_each(|n| chunked.push(n));
        assert_eq!(first, core::ptr::from_ref(&chunked[0]));
        assert_eq!((chunked.len(), chunked.get(4_999), chunked.get(1 << 20)), (5_000, Some(&4_999), None));
        assert!((0..5_000).rev().all(|n| chunked.pop() == Some(n)));
        assert_eq!((chunked.pop(), chunked.len()), (None, 0));
        assert!(chunked.chunks.len() <= 2, "what is not used is freed");
    }
}
