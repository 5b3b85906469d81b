//! Former states of objects on their way out.

use std::collections::VecDeque;
use std::sync::Arc;

/// So many are kept at most.
const MOST: usize = 512;

/// Former states that handlers are still told of.
///
/// An object is a hundred allocations and more. Freed by a handler's thread, they contend with those of the objects that
/// are being decoded, and the allocator cannot hand them out again at once. So the task that decodes keeps a former
/// state until nobody else has it, and frees one whenever it has decoded one.
#[derive(Debug)]
pub(crate) struct Spent<K: ?Sized>(VecDeque<Arc<K>>);

impl<K: ?Sized> Spent<K> {
    pub(crate) fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Keeps a former state; where too many are kept, the oldest is left to whoever else has it.
    pub(crate) fn push(&mut self, object: Arc<K>) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(object);
    }

    /// Frees the oldest, and one more to catch up, unless somebody else has them.
    pub(crate) fn free_some(&mut self) {
        for _ in 0..2 {
            if self.0.front().is_none_or(|object| Arc::strong_count(object) > 1) {
                return;
            }
            self.0.pop_front();
        }
    }

    /// Keeps none any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_handler_has_stays_until_it_has_it_no_more() {
        let mut spent = Spent::new();
        let held: Vec<Arc<u32>> = (0..3).map(Arc::new).collect();
        held.iter().for_each(|object| spent.push(Arc::clone(object)));
        spent.free_some();
        assert_eq!(spent.0.len(), 3);
        drop(held);
        spent.free_some();
        assert_eq!(spent.0.len(), 1);
        spent.free_some();
        assert_eq!(spent.0.len(), 0);
    }

    #[test]
    fn no_more_than_a_few_are_kept() {
        let mut spent = Spent::new();
        let held: Vec<Arc<usize>> = (0..2 * MOST).map(Arc::new).collect();
        held.iter().for_each(|object| spent.push(Arc::clone(object)));
        assert_eq!(spent.0.len(), MOST);
        assert!(held.iter().take(MOST).all(|object| Arc::strong_count(object) == 1));
        spent.clear();
        assert!(held.iter().all(|object| Arc::strong_count(object) == 1));
    }
}
