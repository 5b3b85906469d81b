//! Makes names without modules, and anchors.

use std::collections::BTreeSet;

/// A path as readers know it: `Pair<Port, i32>` for `a::v1::Pair<b::Port, i32>`, `Source.Inline` for
/// `a::Source::Inline`.
pub(super) fn short(path: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in path.chars() {
        if c.is_alphanumeric() || matches!(c, '_' | ':') {
            word.push(c);
            continue;
        }
        out.push_str(&without_modules(&word));
        word.clear();
        out.push(c);
    }
    out + &without_modules(&word)
}

fn without_modules(path: &str) -> String {
    let segments: Vec<&str> = path.split("::").collect();
    let is_type = |segment: &&str| segment.starts_with(char::is_uppercase);
    let from = segments.iter().position(is_type).unwrap_or(segments.len() - 1);
    segments[from..].join(".")
}

/// The anchors in use.
#[derive(Debug, Default)]
pub(super) struct Ids {
    taken: BTreeSet<String>,
}

impl Ids {
    /// A new anchor for the name: letters, digits, `-`, `_` and `.`, with a number if it is taken.
    pub(super) fn take(&mut self, name: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
        let base: String = name.chars().map(safe).collect();
        let mut id = base.clone();
        let mut number = 1;
        while !self.taken.insert(id.clone()) {
            number += 1;
            id = format!("{base}-{number}");
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_have_no_modules() {
        for (path, name) in [
            ("api::v1::Spec", "Spec"),
            ("api::Pair<api::v1::Port, i32>", "Pair<Port, i32>"),
            ("api::Source::Inline", "Source.Inline"),
            ("api::lower", "lower"),
            ("", ""),
        ] {
            assert_eq!(short(path), name);
        }
    }

    #[test]
    fn anchors_are_unique_and_plain() {
        let mut ids = Ids::default();
        assert_eq!(ids.take("a b\"<"), "a-b--");
        assert_eq!(ids.take("a-b--"), "a-b---2");
        assert_eq!(ids.take("é"), "-");
    }
}
