//! Rephrases diagnostics about keys that were written as markers.
//!
//! Rules name keys, such as `min_length`. For a key written as `+kubebuilder:validation:MinLength=3`, the
//! message names the marker.

use crate::diag::{Diagnostic, Diagnostics};
use crate::grammar::{FAMILIES, Parsed};

/// The keys of an item that are written as markers.
pub(super) struct Notation {
    /// Keys with the names of their markers.
    marked: Vec<(&'static str, String)>,
}

impl Notation {
    pub(super) fn of(parsed: &[&Parsed]) -> Self {
        let entries = parsed.iter().flat_map(|parsed| &parsed.entries);
        // A constraint of items is a key inside `items`.
        let all = entries.flat_map(|entry| std::iter::once(entry).chain(super::EntryValue::nested(entry)));
        let marked = all.filter_map(|entry| Some((entry.key.name, entry.marker?.name.clone())));
        Self { marked: marked.collect() }
    }

    /// Whether a marker sets the key.
    pub(super) fn is_marked(&self, key: &str) -> bool {
        self.marked.iter().any(|(name, _)| *name == key)
    }

    /// Whether two markers set the key.
    pub(super) fn is_marked_twice(&self, key: &str) -> bool {
        self.marked.iter().filter(|(name, _)| *name == key).count() > 1
    }

    /// Runs a check, and names markers in its messages for keys written as markers.
    pub(super) fn check<T>(
        &self,
        diagnostics: &mut Diagnostics,
        check: impl FnOnce(&mut Diagnostics) -> T,
    ) -> T {
        let mut found = Diagnostics::new();
        let out = check(&mut found);
        for diagnostic in found.into_vec() {
            diagnostics.push(self.translate(diagnostic));
        }
        out
    }

    fn translate(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let is_about = |key: &str| {
            let message = &diagnostic.message;
            message.contains(&format!("`{key}`")) || message.contains(&format!("`{key} = "))
        };
        if !self.marked.iter().any(|(key, _)| is_about(key)) {
            return diagnostic;
        }
        let texts = std::iter::once(&mut diagnostic.message).chain(&mut diagnostic.help);
        for text in texts.chain(&mut diagnostic.notes) {
            *text = self.in_markers(text);
        }
        diagnostic
    }

    /// The text with keys replaced by their markers.
    fn in_markers(&self, text: &str) -> String {
        let mut out = text.replace(" to #[resource]", "");
        for key in FAMILIES.iter().flat_map(|family| family.keys) {
            let own =
                self.marked.iter().find(|(name, _)| *name == key.name).map(|(_, marker)| marker.as_str());
            let Some(marker) = own.or(key.markers.first().copied()) else { continue };
            let name = key.name;
            out = out.replace(&format!("`{name}`"), &format!("`+{marker}`"));
            for before in ["`", " ", "("] {
                out = out.replace(&format!("{before}{name} = "), &format!("{before}+{marker}="));
            }
            let of_items = marker.replace("validation:", "validation:items:");
            out = out.replace(&format!("items({name} ...)"), &format!("+{of_items}"));
        }
        out
    }
}
