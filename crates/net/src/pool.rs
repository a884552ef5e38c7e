//! Unused boxes, kept so that a packet costs no allocation once the path is full.

/// Boxes for reuse. A box still has its last content when it is taken.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    free: Vec<Box<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { free: Vec::new() }
    }
}

impl<T: Default> Pool<T> {
    /// A box, new or used.
    pub(crate) fn take(&mut self) -> Box<T> {
        self.free.pop().unwrap_or_default()
    }

    /// Takes a box back.
    pub(crate) fn put_back(&mut self, used: Box<T>) {
        self.free.push(used);
    }
}
