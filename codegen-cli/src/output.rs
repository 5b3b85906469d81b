//! Holds generated files: a tree of texts, the kinds of files and the marks that identify them.

mod keep;
mod kind;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) use keep::{carry, part as kept_part};
pub use kind::{
    CLIENT_JSON_MARK, DEFINITION_MARK, DEPLOY_MARK, DOCS_MARK, HELM_MARK, JSON_MARK, KEEP_BEGIN, KEEP_END,
    Kind, MANIFEST_MARK, REPORT_MARK, RUST_MARK, TOML_MARK, YAML_MARK, manifest_mark,
};

/// The folders of a deployment's tree.
pub(crate) const DEPLOY_FOLDERS: [&str; 9] =
    ["certmanager", "crd", "default", "manager", "policy", "prometheus", "rbac", "samples", "webhook"];

/// Generated files by their path relative to an output folder, `/`-separated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputTree {
    files: BTreeMap<String, String>,
}

impl OutputTree {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; returns `false`, and keeps the first, if the path is taken.
    pub fn insert(&mut self, path: impl Into<String>, text: impl Into<String>) -> bool {
        use std::collections::btree_map::Entry;
        match self.files.entry(path.into()) {
            Entry::Vacant(entry) => {
                entry.insert(text.into());
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of a file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Prepends a text, such as a licence, to every file.
    pub fn prepend(&mut self, text: &str) {
        for file in self.files.values_mut() {
            file.insert_str(0, text);
        }
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether the tree has no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// A tree and its folder.
#[derive(Clone, Debug)]
pub struct Target {
    /// Folder of the tree.
    pub root: PathBuf,
    /// The kind of the tree's files.
    pub kind: Kind,
    /// The files.
    pub tree: OutputTree,
}
