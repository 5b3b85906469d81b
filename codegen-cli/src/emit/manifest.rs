//! Writes YAML files of several objects.

use kubesmith_apimachinery::yaml;
use serde_json::Value;

use crate::output::{Kind, OutputTree, manifest_mark};

/// A tree with one file: the header, the mark, the objects. Without an object it is empty.
pub(super) fn tree(name: &str, kind: Kind, header: &str, objects: &[Value]) -> OutputTree {
    let mut tree = OutputTree::new();
    if !objects.is_empty() {
        let mark = format!("{} v{}. DO NOT EDIT.\n", manifest_mark(kind), env!("CARGO_PKG_VERSION"));
        let documents: String = objects.iter().map(yaml::document).collect();
        tree.insert(name, format!("{header}{mark}{documents}"));
    }
    tree
}
