//! Selects the webhooks and policies that are called again, because others changed the object after them.
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

/// The calls of the first round that may be repeated, by their keys.
#[derive(Debug)]
pub(super) struct Reinvocation<K> {
    /// Called already, with `reinvocationPolicy: IfNeeded`.
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
    /// Begins a round: changes since the last round need calls, too.
    pub(super) fn begin(&mut self, round: Round, object: Option<&Value>) {
        if round == Round::Again && !self.willing.is_empty() && self.last.as_ref() != object {
            self.changed();
        }
    }

    /// Marks all willing calls as needed, as the object changed.
    pub(super) fn changed(&mut self) {
        self.needed.append(&mut self.willing);
    }

    /// Reports whether the call is made in this round.
    pub(super) fn allows(&self, round: Round, key: &K) -> bool {
        round == Round::First || self.needed.contains(key)
    }

    /// Records a call that may be repeated.
    pub(super) fn invoked(&mut self, key: K) {
        self.willing.insert(key);
    }

    /// Ends a round.
    pub(super) fn end(&mut self, object: Option<&Value>) {
        self.last = object.filter(|_| !self.willing.is_empty()).cloned();
    }
}
