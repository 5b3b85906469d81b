//! Texts that many objects share.

use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashSet;

type Pair = (Arc<str>, Arc<str>);

/// Below this number of entries, a sweep is not worth its cost.
const FEW: usize = 1024;

/// An object's labels, sorted by name. Objects with the same labels share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(Option<Arc<[Pair]>>);

impl Deref for Labels {
    type Target = [Pair];

    fn deref(&self) -> &[Pair] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Finds the stored copy of a text, a set of labels or a pattern.
///
/// Entries that no object uses are dropped when the number of entries has doubled since the last sweep, so there
/// are at most 2n + 1024 entries for n used ones.
#[derive(Debug, Default)]
pub(super) struct Interner {
    texts: HashSet<Arc<str>>,
    sets: HashSet<Arc<[Pair]>>,
    patterns: HashSet<Arc<str>>,
    sweep_at: usize,
    /// The labels of the current object.
    pairs: Vec<Pair>,
}

impl Interner {
    /// Adds a label of the current object.
    pub(super) fn label(&mut self, name: &str, value: &str) {
        let pair = (self.text(name), self.text(value));
        self.pairs.push(pair);
    }

    /// Drops the labels of an object that did not decode.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Returns the labels added since the last call. If a name occurs twice, the last value counts.
    pub(super) fn labels(&mut self) -> Labels {
        self.pairs.reverse();
        self.pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.pairs.dedup_by(|(a, _), (b, _)| a == b);
        if self.pairs.is_empty() {
            return Labels(None);
        }
        let set = match self.sets.get(self.pairs.as_slice()) {
            Some(set) => Arc::clone(set),
            None => {
                let set: Arc<[Pair]> = self.pairs.as_slice().into();
                self.sets.insert(Arc::clone(&set));
                set
            }
        };
        self.pairs.clear();
        self.sweep();
        Labels(Some(set))
    }

    /// Returns the stored pattern.
    pub(super) fn pattern(&mut self, text: &str) -> Arc<str> {
        let pattern = known(&mut self.patterns, text);
        self.sweep();
        pattern
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        known(&mut self.texts, text)
    }

    fn len(&self) -> usize {
        self.texts.len() + self.sets.len() + self.patterns.len()
    }

    fn sweep(&mut self) {
        if self.len() < self.sweep_at.max(FEW) {
            return;
        }
        self.sets.retain(|set| Arc::strong_count(set) > 1);
        self.texts.retain(|text| Arc::strong_count(text) > 1);
        self.patterns.retain(|pattern| Arc::strong_count(pattern) > 1);
        self.sweep_at = 2 * self.len();
    }
}

fn known(texts: &mut HashSet<Arc<str>>, text: &str) -> Arc<str> {
    if let Some(known) = texts.get(text) {
        return Arc::clone(known);
    }
    let new: Arc<str> = text.into();
    texts.insert(Arc::clone(&new));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(interner: &mut Interner, pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().for_each(|(name, value)| interner.label(name, value));
        interner.labels()
    }

    #[test]
    fn equal_labels_are_stored_once_in_any_order() {
        let mut interner = Interner::default();
        let one = labels(&mut interner, &[("a", "1"), ("b", "2")]);
        let same = labels(&mut interner, &[("b", "2"), ("a", "1")]);
        assert!(Arc::ptr_eq(one.0.as_ref().unwrap(), same.0.as_ref().unwrap()));
        let other = labels(&mut interner, &[("a", "2")]);
        assert!(Arc::ptr_eq(&one[0].0, &other[0].0), "texts are shared too");
        assert!(labels(&mut interner, &[]).is_empty());
        let twice = labels(&mut interner, &[("a", "1"), ("a", "2"), ("a", "3")]);
        assert_eq!((twice.len(), &*twice[0].1), (1, "3"));
    }

    #[test]
    fn unused_entries_are_dropped() {
        let mut interner = Interner::default();
        let kept = labels(&mut interner, &[("name", "kept")]);
        for number in 0..20_000 {
            labels(&mut interner, &[("name", &number.to_string())]);
            interner.pattern(&number.to_string());
            assert!(interner.len() <= FEW + 2);
        }
        let again = labels(&mut interner, &[("name", "kept")]);
        assert!(Arc::ptr_eq(kept.0.as_ref().unwrap(), again.0.as_ref().unwrap()));
    }
}
