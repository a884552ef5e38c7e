//! Words of events that come from files. Events hold words of the program itself; a word that is read is kept for as long as the
//! program runs, once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Longest word accepted, in bytes, and maximum number of words: far more than the vocabulary has, and little memory.
const MAX_LEN: usize = 64;
const MAX_WORDS: usize = 4_096;

static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Keeps `word` indefinitely; returns `None` if it is too long, or one too many.
pub fn keep(word: &str) -> Option<&'static str> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = known.get(word) {
        return Some(kept);
    }
    if word.len() > MAX_LEN || known.len() >= MAX_WORDS {
        return None;
    }
    let kept: &'static str = Box::leak(word.to_owned().into_boxed_str());
    known.insert(kept);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_once_and_long_ones_are_refused() {
        let (one, other) = (keep("rack").unwrap(), keep(&String::from("rack")).unwrap());
        assert!(std::ptr::eq(one, other));
        assert_eq!(keep(&"x".repeat(MAX_LEN + 1)), None);
    }
}
