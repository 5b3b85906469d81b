//! Which webhooks and policies are called a second time, because others changed the object after them.
//!
//! Source: apiserver's pkg/admission/plugin/webhook/mutating/reinvocationcontext.go, and the one of policies.

use std::collections::BTreeSet;

use serde_json::Value;

/// Mutating admission runs at most twice: again when a webhook or a policy changed the object
/// (pkg/admission/reinvocation.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    First,
    Again,
}

/// The calls of the first round that may have to be repeated, by what tells them apart.
#[derive(Debug)]
pub(super) struct Reinvocation<K> {
    /// Called already, and willing to be called again.
    willing: BTreeSet<K>,
    needed: BTreeSet<K>,
    /// The object after the last call.
    last: Option<Value>,
}

impl<K> Default for Reinvocation<K> {
    fn default() -> Self {
        Self { willing: BTreeSet::new(), needed: BTreeSet::new(), last: None }
    }
}

impl<K: Ord> Reinvocation<K> {
    /// Begins a round: what changed since the last one needs calls, too.
    pub(super) fn begin(&mut self, round: Round, object: Option<&Value>) {
        if round == Round::Again && !self.willing.is_empty() && self.last.as_ref() != object {
            self.changed();
        }
    }

    /// The object changed.
    pub(super) fn changed(&mut self) {
        self.needed.append(&mut self.willing);
    }

    /// Whether a call is made in a round.
    pub(super) fn allows(&self, round: Round, key: &K) -> bool {
        round == Round::First || self.needed.contains(key)
    }

    /// A call was made that may be repeated.
    pub(super) fn invoked(&mut self, key: K) {
        self.willing.insert(key);
    }

    /// Ends a round.
    pub(super) fn end(&mut self, object: Option<&Value>) {
        self.last = object.filter(|_| !self.willing.is_empty()).cloned();
    }
}
