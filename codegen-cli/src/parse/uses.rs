//! Splits `use` declarations into their leaves.

use syn::UseTree;
use syn::ext::IdentExt;

use crate::syntax::{UseItem, Visibility};

/// Adds one item for each name that the tree binds, and for each glob.
pub(crate) fn leaves(
    tree: &UseTree,
    visibility: Visibility,
    global: bool,
    path: &mut Vec<String>,
    out: &mut Vec<UseItem>,
) {
    let mut leaf = |segments: Vec<String>, binding: Option<String>| {
        // `use a::{self}` binds the module itself.
        let segments = match segments.split_last() {
            Some((last, rest)) if last == "self" && !rest.is_empty() => rest.to_vec(),
            _ => segments,
        };
        out.push(UseItem { visibility, global, segments, binding });
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.unraw().to_string());
            leaves(&tree.tree, visibility, global, path, out);
            path.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.unraw().to_string();
            let binding = if name == "self" { path.last().cloned() } else { Some(name.clone()) };
            leaf([path.as_slice(), &[name]].concat(), binding);
        }
        UseTree::Rename(rename) => {
            leaf(
                [path.as_slice(), &[rename.ident.unraw().to_string()]].concat(),
                Some(rename.rename.unraw().to_string()),
            );
        }
        UseTree::Glob(_) => leaf(path.clone(), None),
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, visibility, global, path, out);
            }
        }
    }
}
