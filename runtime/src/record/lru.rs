//! A map that forgets what was used longest ago.

use std::collections::{BTreeMap, HashMap};

/// At most `capacity` values by key.
#[derive(Debug)]
pub(super) struct Lru<V> {
    values: HashMap<String, (V, u64)>,
    /// Keys by the time of their last use.
    order: BTreeMap<u64, String>,
    uses: u64,
    capacity: usize,
}

impl<V> Lru<V> {
    pub(super) fn new(capacity: usize) -> Self {
        Lru { values: HashMap::new(), order: BTreeMap::new(), uses: 0, capacity: capacity.max(1) }
    }

    /// The value of `key`, made by `fresh` where there is none.
    pub(super) fn entry(&mut self, key: &str, fresh: impl FnOnce() -> V) -> &mut V {
        self.uses += 1;
        let now = self.uses;
        if let Some((_, used)) = self.values.get_mut(key) {
            self.order.remove(used);
            *used = now;
        } else if self.values.len() >= self.capacity
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.values.remove(&oldest);
        }
        self.order.insert(now, key.to_owned());
        let (value, _) = self.values.entry(key.to_owned()).or_insert_with(|| (fresh(), now));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    #[test]
    fn the_longest_unused_goes_first() {
        let mut lru = Lru::new(2);
        *lru.entry("a", || 0) += 1;
        *lru.entry("b", || 0) += 1;
        *lru.entry("a", || 0) += 1;
        *lru.entry("c", || 0) += 1;
        assert_eq!(*lru.entry("a", || 0), 2);
        assert_eq!(*lru.entry("b", || 0), 0, "forgotten for c");
        assert_eq!(lru.values.len(), 2);
        assert_eq!(lru.order.len(), 2);
    }
}
