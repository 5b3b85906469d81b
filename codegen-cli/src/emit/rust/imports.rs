//! Which types the files of a kind import, and which they name by their whole path.

use std::collections::BTreeSet;

use super::skeleton::Bindings;

/// What `kubesmith_runtime::client::prelude` names, and so the files of clients.
pub(super) const CLIENT_PRELUDE: &[&str] = &[
    "DeleteParams",
    "Deletion",
    "Error",
    "ListParams",
    "ObjectList",
    "Patch",
    "PatchParams",
    "PostParams",
    "ResponseFuture",
    "RestClient",
    "Result",
    "TypedClient",
    "WatchParams",
    "WatchStream",
];

/// What the files mean by a name beside that: types and traits of the language's prelude, what the files import, and their
/// parameters of types.
const OTHERS: &[&str] = &[
    "ApplyConfiguration",
    "Arc",
    "AsMut",
    "AsRef",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "ExtractError",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "Lister",
    "None",
    "Ok",
    "Option",
    "Ord",
    "P",
    "PartialEq",
    "PartialOrd",
    "Self",
    "Send",
    "Serialize",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "V",
    "Vec",
];

/// Binds `Object`, and `ObjectPath` where the files import it. `own` are the names that they define.
pub(super) fn object(bindings: Bindings, path: &str, own: &BTreeSet<String>) -> Bindings {
    let name = importable(path, own);
    bindings
        .flag("imports_object", name.is_some())
        .path("Object", name.unwrap_or(path))
        .path("ObjectPath", path)
}

/// Binds `Configuration`, and `ConfigurationPath` where the files import it. `object` is the path of what it configures.
pub(super) fn configuration(
    bindings: Bindings,
    path: &str,
    object: &str,
    own: &BTreeSet<String>,
) -> Bindings {
    let name = importable(path, own).filter(|name| last(object) != *name);
    bindings
        .flag("imports_configuration", name.is_some())
        .path("Configuration", name.unwrap_or(path))
        .path("ConfigurationPath", path)
}

/// Binds `ObjectMeta`, and `ObjectMetaPath` where the files import it. `object` is the path of what has the metadata.
pub(super) fn object_meta(bindings: Bindings, path: &str, object: &str, own: &BTreeSet<String>) -> Bindings {
    let name = importable(path, own).filter(|name| last(object) != *name);
    bindings
        .flag("imports_meta", name.is_some())
        .path("ObjectMeta", name.unwrap_or(path))
        .path("ObjectMetaPath", path)
}

/// The name by which a file can call the type once it has imported it.
fn importable<'p>(path: &'p str, own: &BTreeSet<String>) -> Option<&'p str> {
    let name = last(path);
    let is_taken = CLIENT_PRELUDE.contains(&name) || OTHERS.contains(&name) || own.contains(name);
    (path.contains("::") && syn::parse_str::<syn::Ident>(name).is_ok() && !is_taken).then_some(name)
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::super::Template;
    use super::*;

    /// The names that a tree of imports brings in.
    fn brought_in(tree: &syn::UseTree, out: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(it) => brought_in(&it.tree, out),
            syn::UseTree::Group(it) => it.items.iter().for_each(|tree| brought_in(tree, out)),
            syn::UseTree::Name(it) => out.push(it.ident.to_string()),
            syn::UseTree::Rename(it) => out.push(it.rename.to_string()),
            _ => {}
        }
    }

    #[test]
    fn what_the_templates_import_is_no_kind_s() {
        for template in Template::ALL.iter().filter(|template| template.has_layouts()) {
            let file = syn::parse_file(template.source()).unwrap();
            let mut names = Vec::new();
            for item in &file.items {
                if let syn::Item::Use(item) = item {
                    brought_in(&item.tree, &mut names);
                }
            }
            // Types of the runtime; what placeholders stand for is the kind's, and modules begin with a small letter.
            names.retain(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
            for name in names {
                let is_known = CLIENT_PRELUDE.contains(&&*name) || OTHERS.contains(&&*name);
                assert!(is_known, "{template:?} imports `{name}`");
            }
        }
    }

    #[test]
    fn types_are_imported_unless_their_name_means_something_else() {
        let own = BTreeSet::from(["Endpoints".to_owned()]);
        assert_eq!(importable("::shop_api::v1::Cart", &own), Some("Cart"));
        for path in ["::shop_api::Result", "::shop_api::Vec", "::k8s::Endpoints", "Cart"] {
            assert_eq!(importable(path, &own), None, "{path}");
        }
    }
}
