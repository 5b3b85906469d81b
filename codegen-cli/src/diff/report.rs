//! Combines changes with facts beyond the definitions: their places, and which are allowed.

use std::collections::BTreeSet;

use super::{Allowed, Change, Class};
use crate::source::Position;

/// A change with its judgement.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The change.
    pub change: Change,
    /// Its verb.
    pub class: Class,
    /// The reason why it is allowed, if it is.
    pub allowed: Option<String>,
    /// The file as a user would write it, and the position in it, if there is a file.
    pub place: Option<(String, Position)>,
}

/// An error that kept a part from being compared.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The unreadable part, and the reason.
    pub message: String,
    /// The file as a user would write it, and the position in it, if there is a file.
    pub place: Option<(String, Position)>,
}

/// The content of the output.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The changes.
    pub findings: Vec<Finding>,
    /// Entries of the file with allowed changes that match no change, with their lines.
    pub unused: Vec<(usize, String)>,
    /// The unreadable parts: further changes are possible.
    pub unread: Vec<Unread>,
    /// Whether the report assumes API servers since 1.33, which tolerate unchanged invalid values.
    pub ratcheting: bool,
}

impl Report {
    /// Judges changes. `locate` returns the places of those that are not compatible.
    pub fn new(
        changes: Vec<Change>,
        allowed: &Allowed,
        ratcheting: bool,
        mut locate: impl FnMut(&Change) -> Option<(String, Position)>,
    ) -> Self {
        let mut used = BTreeSet::new();
        let mut findings = Vec::new();
        for change in changes {
            let class = change.class(ratcheting);
            let entry = allowed.reason(&change);
            used.extend(entry.map(|(at, _)| at));
            let reason = entry.map(|(_, reason)| reason.to_owned());
            let place = if class == Class::Compatible { None } else { locate(&change) };
            findings.push(Finding { change, class, allowed: reason, place });
        }
        Self { findings, unused: allowed.unused(&used), unread: Vec::new(), ratcheting }
    }

    /// Adds unreadable parts.
    #[must_use]
    pub fn without(mut self, unread: impl IntoIterator<Item = Unread>) -> Self {
        self.unread.extend(unread);
        self
    }

    /// Whether a change is neither compatible nor allowed.
    pub fn is_breaking(&self) -> bool {
        self.findings.iter().any(Finding::is_breaking)
    }
}

impl Finding {
    /// Whether the change is neither compatible nor allowed.
    pub fn is_breaking(&self) -> bool {
        self.class != Class::Compatible && self.allowed.is_none()
    }
}
