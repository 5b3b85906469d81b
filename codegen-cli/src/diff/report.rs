//! The changes with what is known of them beside the definitions: where they stand, and which are allowed.

use std::collections::BTreeSet;

use super::{Allowed, Change, Class};
use crate::source::Position;

/// A change, judged.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The change.
    pub change: Change,
    /// Its verb.
    pub class: Class,
    /// Why it is allowed; `None`: it is not.
    pub allowed: Option<String>,
    /// The file as a user would write it, and the place in it; `None` where there is no file.
    pub place: Option<(String, Position)>,
}

/// A mistake for which something was not compared.
#[derive(Clone, Debug)]
pub struct Unread {
    /// What cannot be read, and why.
    pub message: String,
    /// The file as a user would write it, and the place in it; `None` where there is no file.
    pub place: Option<(String, Position)>,
}

/// What is shown.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The changes.
    pub findings: Vec<Finding>,
    /// Entries of the file with allowed changes that allow nothing, with their lines.
    pub unused: Vec<(usize, String)>,
    /// What could not be read: the changes are not all that there are.
    pub unread: Vec<Unread>,
    /// Whether it was judged by what API servers since 1.33 tolerate.
    pub ratcheting: bool,
}

impl Report {
    /// Judges changes. `locate` is asked for the places of those that are not compatible.
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

    /// With what could not be read.
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
