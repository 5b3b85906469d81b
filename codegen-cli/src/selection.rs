//! Selects kinds of the inputs for a run.

/// The kinds to generate: `--kind`, `--group` and `--exclude`, or the same in kubesmith.toml.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// `Order` or `Order.bakery.example.com`; empty: every kind.
    pub kinds: Vec<String>,
    /// `bakery.example.com` or `*.example.com`; empty: every group.
    pub groups: Vec<String>,
    /// Excluded kinds and groups, in the same notation.
    pub exclude: Vec<String>,
}

/// The verdict of a selection about a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// An entry names the kind.
    Kind,
    /// An entry names its group.
    Group,
    /// No entry names or excludes it.
    Implied,
    /// It is excluded.
    LeftOut,
}

impl Selection {
    /// The selection of the kinds with these names, such as `Order.bakery.example.com`.
    pub fn of(names: &[String]) -> Self {
        Self { kinds: names.to_vec(), ..Self::default() }
    }

    /// The choice for a kind.
    pub fn choice(&self, group: &str, kind: &str) -> Choice {
        let any = |entries: &[String]| entries.iter().any(|entry| matches(entry, group, kind));
        if any(&self.exclude) {
            return Choice::LeftOut;
        }
        let (by_kind, by_group) = (!self.kinds.is_empty(), !self.groups.is_empty());
        if by_kind && !any(&self.kinds) || by_group && !any(&self.groups) {
            return Choice::LeftOut;
        }
        match (by_kind, by_group) {
            (true, _) => Choice::Kind,
            (false, true) => Choice::Group,
            (false, false) => Choice::Implied,
        }
    }

    /// The entries that match none of these kinds, each given as group and kind.
    pub fn without_match<'a>(&'a self, kinds: &[(String, String)]) -> Vec<&'a str> {
        let all = self.kinds.iter().chain(&self.groups).chain(&self.exclude);
        let is_idle = |entry: &&String| !kinds.iter().any(|(group, kind)| matches(entry, group, kind));
        all.filter(is_idle).map(String::as_str).collect()
    }
}

/// Whether an entry names a kind: its first letter is a capital, and a group may follow after a dot. Groups
/// are in lower case.
pub fn names_kind(entry: &str) -> bool {
    entry.starts_with(|c: char| c.is_ascii_uppercase())
}

fn matches(entry: &str, group: &str, kind: &str) -> bool {
    match names_kind(entry).then(|| entry.split_once('.').unwrap_or((entry, ""))) {
        Some((of, inside)) => of == kind && (inside.is_empty() || is_group(inside, group)),
        None => is_group(entry, group),
    }
}

/// Whether an entry names the group, or a parent of it with `*.`.
fn is_group(entry: &str, group: &str) -> bool {
    match entry.strip_prefix('*') {
        Some(suffix) => group.len() > suffix.len() && group.ends_with(suffix),
        None => entry == group,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(kinds: &[&str], groups: &[&str], exclude: &[&str]) -> Selection {
        let texts = |entries: &[&str]| entries.iter().map(ToString::to_string).collect();
        Selection { kinds: texts(kinds), groups: texts(groups), exclude: texts(exclude) }
    }

    #[test]
    fn selection_narrows_by_kind_and_group_and_exclude_wins() {
        use Choice::{Group, Implied, Kind, LeftOut};
        for (kinds, groups, exclude, expected) in [
            (&[][..], &[][..], &[][..], Implied),
            (&["Order"], &[], &[], Kind),
            (&["Order.example.com"], &["*.com"], &[], Kind),
            (&["Order.*.com"], &[], &[], Kind),
            (&["Order.example.org"], &[], &[], LeftOut),
            (&["Cart"], &[], &[], LeftOut),
            (&[], &["example.com"], &[], Group),
            (&[], &["*.com"], &[], Group),
            (&[], &["*.example.com"], &[], LeftOut),
            (&["Order"], &["example.org"], &[], LeftOut),
            (&["Order"], &[], &["example.com"], LeftOut),
            (&[], &[], &["Order"], LeftOut),
            (&[], &[], &["Cart"], Implied),
        ] {
            let found = selection(kinds, groups, exclude).choice("example.com", "Order");
            assert_eq!(found, expected, "{kinds:?} {groups:?} {exclude:?}");
        }
        assert_eq!(Selection::of(&["Order.example.com".into()]).choice("example.com", "Order"), Kind);
    }

    #[test]
    fn selection_entries_without_a_match_are_reported() {
        let kinds = [("example.com".to_string(), "Order".to_string())];
        let selection = selection(&["Order", "Ordr"], &["example.com"], &["*.org"]);
        assert_eq!(selection.without_match(&kinds), ["Ordr", "*.org"]);
    }
}
