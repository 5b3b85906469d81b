//! Which types the files of a kind import, and which they name by their whole path.

use std::collections::BTreeSet;

use kubesmith_core::names::is_in_prelude;

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

/// What the files mean by a name beside that and Rust's prelude: what they import, and their parameters of types.
const OTHERS: &[&str] = &[
    "ApplyConfiguration",
    "Arc",
    "Debug",
    "Deserialize",
    "ExtractError",
    "Lister",
    "P",
    "Self",
    "Serialize",
    "V",
];

/// A type that the files of a kind may import: its placeholder, that of its path, and the flag that it is imported.
pub(super) struct Importable {
    name: &'static str,
    path: &'static str,
    flag: &'static str,
}

/// The type of a kind.
pub(super) const OBJECT: Importable =
    Importable { name: "Object", path: "ObjectPath", flag: "imports_object" };

/// Its apply configuration.
pub(super) const CONFIGURATION: Importable =
    Importable { name: "Configuration", path: "ConfigurationPath", flag: "imports_configuration" };

/// The apply configuration of its metadata.
pub(super) const OBJECT_META: Importable =
    Importable { name: "ObjectMeta", path: "ObjectMetaPath", flag: "imports_meta" };

/// What the files of a kind import.
#[derive(Default)]
pub(super) struct Imports {
    /// Names that mean something else in them.
    taken: BTreeSet<String>,
    /// The paths of what they import.
    paths: BTreeSet<String>,
}

impl Imports {
    /// Of files that define types of these names.
    pub(super) fn new(own: impl IntoIterator<Item = String>) -> Self {
        Self { taken: own.into_iter().collect(), paths: BTreeSet::new() }
    }

    /// Imports a type, unless its name means something else, and binds its placeholders.
    pub(super) fn bind(&mut self, bindings: Bindings, ty: &Importable, path: &str) -> Bindings {
        let name = last(path);
        let is_taken = CLIENT_PRELUDE.contains(&name) || OTHERS.contains(&name) || is_in_prelude(name);
        // A path of one segment is nothing to import, and there may be none.
        if !is_taken && path.contains("::") && self.taken.insert(name.to_owned()) {
            self.paths.insert(path.to_owned());
        }
        bindings
            .flag(ty.flag, self.paths.contains(path))
            .path(ty.name, self.shortest(path))
            .path(ty.path, path)
    }

    /// What the files call the type of this path.
    pub(super) fn shortest<'p>(&self, path: &'p str) -> &'p str {
        if self.paths.contains(path) { last(path) } else { path }
    }
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
            // Modules begin with a small letter, and what the plan binds with an underscore.
            names.retain(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
            for name in names {
                let is_known = CLIENT_PRELUDE.contains(&&*name) || OTHERS.contains(&&*name);
                assert!(is_known, "{template:?} imports `{name}`");
            }
        }
    }

    #[test]
    fn types_are_imported_unless_their_name_means_something_else() {
        for (path, name) in [
            ("::shop_api::v1::Cart", "Cart"),
            ("::shop_api::Result", "::shop_api::Result"),
            ("::shop_api::Vec", "::shop_api::Vec"),
            ("::k8s::Endpoints", "::k8s::Endpoints"),
            ("Cart", "Cart"),
        ] {
            let mut imports = Imports::new(["Endpoints".to_owned()]);
            let bindings = imports.bind(Bindings::default(), &OBJECT, path);
            assert_eq!((bindings.get("Object"), bindings.get("ObjectPath")), (Some(name), Some(path)));
            assert_eq!(bindings.flags(), [("imports_object", name != path)]);
        }
    }

    #[test]
    fn of_two_types_of_one_name_the_first_is_imported() {
        let mut imports = Imports::default();
        let bindings = imports.bind(Bindings::default(), &OBJECT, "::a::Cart");
        let bindings = imports.bind(bindings, &CONFIGURATION, "crate::Cart");
        assert_eq!(
            (bindings.get("Object"), bindings.get("Configuration")),
            (Some("Cart"), Some("crate::Cart"))
        );
        assert_eq!(imports.shortest("::a::Cart"), "Cart");
        assert_eq!(imports.shortest("::b::Cart"), "::b::Cart");
    }
}
