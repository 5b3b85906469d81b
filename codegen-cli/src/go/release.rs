//! Describes the output of controller-gen by its version: a project that names an older one gets that one's
//! output.

use std::path::PathBuf;

use super::{committed, generator};
use crate::ir::Older;

/// A release of controller-gen; without a number, the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Release(pub(super) Option<[u32; 3]>);

/// Markers that releases added, with the last release without them. Older releases take them for comments.
const ADDED: [(&str, [u32; 3]); 13] = [
    // Commit 5e5bc88a of 2024-05-14.
    ("default", [0, 15, 0]),
    // Commit f79cfef8 of 2024-09-24.
    ("kubebuilder:selectablefield", [0, 16, 3]),
    // Commit b836f7a1 of 2025-04-14.
    ("kubebuilder:title", [0, 17, 3]),
    // Commit 7c982e07 of 2025-06-18.
    ("kubebuilder:validation:AtMostOneOf", [0, 18, 0]),
    ("kubebuilder:validation:ExactlyOneOf", [0, 18, 0]),
    // Commit 8f0c1b1b of 2025-09-17.
    ("kubebuilder:validation:AtLeastOneOf", [0, 19, 0]),
    // Commit 8093c7e7 of 2025-10-13.
    ("k8s:optional", [0, 19, 0]),
    ("k8s:required", [0, 19, 0]),
    // Commit 916f3caf of 2026-02-10.
    ("kubebuilder:externalDocs", [0, 20, 1]),
    // Commit b20dcc42 of 2026-04-26.
    ("k8s:enum", [0, 20, 1]),
    // Commit 456a080c of 2026-05-01.
    ("k8s:immutable", [0, 20, 1]),
    // Commit d47d5fa3 of 2026-05-01.
    ("k8s:listType", [0, 21, 0]),
    ("k8s:listMapKey", [0, 21, 0]),
];

impl Release {
    /// The newest release that a project names, or that which wrote most of its CRDs.
    pub(super) fn of_project(inputs: &[PathBuf]) -> Self {
        Self(generator::version(inputs).or_else(|| committed::version(inputs)))
    }

    /// The differences in what is written for the same types and markers.
    pub(super) fn older(self) -> Older {
        Older {
            joins_lines: self.joins_lines(),
            // Commit e42b1a29 of 2024-07-15.
            cuts_words: self.is_up_to([0, 16, 5]),
            keeps_both_enums: self.keeps_both_enums(),
            // Commit 3765c8c2 of 2026-04-27, after 0.21.0 on its branch.
            keeps_equal_counts: self.is_up_to([0, 21, 0]),
            // Commit e426c7c6 of 2024-05-02.
            keeps_rules: self.is_up_to([0, 15, 0]),
            // Commit 97708aa2 of 2024-08-29.
            drops_urls: self.is_up_to([0, 16, 1]) && !self.is_up_to([0, 15, 0]),
            // Commit 4c27c109 of 2024-08-29.
            keeps_core: self.is_up_to([0, 16, 1]),
            // Commit 17cbcd35 of 2024-10-28.
            keeps_verbs: self.is_up_to([0, 16, 5]),
            // Commit 9f89b469 of 2025-10-30.
            keeps_packages: self.is_up_to([0, 19, 0]),
            // Commit 4ce8785f of 2022-10-14.
            keeps_markers: self.is_up_to([0, 11, 4]),
        }
    }

    fn is_up_to(self, last: [u32; 3]) -> bool {
        self.0.is_some_and(|version| version <= last)
    }

    /// Whether rules of `ExactlyOneOf` and similar markers count fields in lists, until commit ce5d8844 of
    /// 2026-05-09.
    pub(super) fn counts_in_lists(self) -> bool {
        self.is_up_to([0, 21, 0])
    }

    /// Whether a field with only `omitzero` in its tag is required, until commit 87bd9d18 of 2026-05-06.
    pub(super) fn requires_omitzero(self) -> bool {
        self.is_up_to([0, 21, 0])
    }

    /// Whether a field's values and its type's values both apply, until commit b20dcc42 of 2026-04-26: since
    /// then only the type's values apply.
    pub(super) fn keeps_both_enums(self) -> bool {
        self.is_up_to([0, 20, 1])
    }

    /// Whether descriptions keep `TODO` lines and text after `---`, and have two blank lines between
    /// paragraphs, until commit 835e0545 of 2024-06-17.
    pub(super) fn keeps_notes(self) -> bool {
        self.is_up_to([0, 15, 0])
    }

    /// Whether descriptions have the lines of a paragraph in one line, until commit 7488021a of 2023-12-20.
    pub(super) fn joins_lines(self) -> bool {
        self.is_up_to([0, 13, 0])
    }

    /// Whether descriptions keep spaces at the beginning of lines, until commit 551890ad of 2021-10-12.
    pub(super) fn keeps_spaces(self) -> bool {
        self.is_up_to([0, 7, 0])
    }

    /// Whether `omitempty` makes a field optional that a marker requires, until commit 8a753ae4 of 2024-05-06.
    pub(super) fn prefers_tags(self) -> bool {
        self.is_up_to([0, 15, 0])
    }

    /// Whether `corev1.Protocol` is a string with a default, until commit 2f6801da of 2024-08-14.
    pub(super) fn has_protocol_default(self) -> bool {
        self.is_up_to([0, 16, 0])
    }

    /// Whether a type with `MarshalText` has the schema of its declaration, until commit e92e85dc of 2024-11-17.
    pub(super) fn ignores_text(self) -> bool {
        self.is_up_to([0, 16, 5])
    }

    /// Whether an alias of a predeclared type is that type, without its comments and markers, until commit
    /// 7587d2c0 of 2024-10-21.
    pub(super) fn ignores_aliases(self) -> bool {
        self.is_up_to([0, 16, 4])
    }

    /// Whether a pattern leaves out modules inside, until commit 734a8a31 of 2022-05-03.
    pub(super) fn leaves_out_modules(self) -> bool {
        self.is_up_to([0, 8, 0])
    }

    /// Whether the release knows a marker.
    pub(super) fn knows(self, marker: &str) -> bool {
        // Commit 5c4990cb of 2024-03-26.
        if marker.starts_with("kubebuilder:validation:items:") && self.is_up_to([0, 14, 0]) {
            return false;
        }
        !ADDED.iter().any(|(name, last)| *name == marker && self.is_up_to(*last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_has_the_features_of_its_version() {
        let [old, newer, newest] = [Release(Some([0, 15, 0])), Release(Some([0, 21, 0])), Release(None)];
        assert!(old.counts_in_lists() && old.keeps_both_enums() && old.keeps_notes());
        assert!(newer.counts_in_lists() && !newer.keeps_both_enums() && !newer.keeps_notes());
        assert!(!newest.counts_in_lists());
        assert!(newer.requires_omitzero() && !newest.requires_omitzero());
        assert!(!old.knows("k8s:enum") && newer.knows("k8s:enum") && !newer.knows("k8s:listType"));
        assert!(newest.knows("k8s:listType") && old.knows("optional"));
        assert!(!old.joins_lines() && Release(Some([0, 13, 0])).joins_lines());
        assert!(!old.knows("default") && newer.knows("default"));
        assert!(newer.knows("kubebuilder:validation:AtLeastOneOf"));
        for (marker, version) in
            [("selectablefield", [0, 16, 4]), ("title", [0, 18, 0]), ("externalDocs", [0, 21, 0])]
        {
            let marker = format!("kubebuilder:{marker}");
            assert!(!old.knows(&marker) && Release(Some(version)).knows(&marker), "{marker}");
        }
        let Older { keeps_rules, keeps_verbs, keeps_packages, .. } = Release(Some([0, 16, 5])).older();
        assert!(!keeps_rules && keeps_verbs && keeps_packages && old.older().keeps_rules);
        for (version, drops_urls, keeps_core) in [
            ([0, 15, 0], false, true),
            ([0, 16, 0], true, true),
            ([0, 16, 1], true, true),
            ([0, 16, 2], false, false),
        ] {
            let older = Release(Some(version)).older();
            assert_eq!((older.drops_urls, older.keeps_core), (drops_urls, keeps_core), "{version:?}");
        }
        assert_eq!(newest.older(), Older::default());
    }
}
