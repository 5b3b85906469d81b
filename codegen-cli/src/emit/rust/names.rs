//! Makes identifiers for generated code that compile for every name in the API.

use heck::ToSnakeCase;
use kubesmith_core::names::is_keyword;

use crate::ir::{Group, Resource, Version};

/// The types of `kubesmith_runtime::client::prelude`, which programs import along with those of a package.
const CLIENT_PRELUDE: &[&str] = &[
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

/// Modules beside the groups' modules in some part of the tree.
const GROUP_NEIGHBOURS: &[&str] = &["factory", "generic", "scheme", "typed"];

/// Methods of the informer factory and of its deref target.
const FACTORY_METHODS: &[&str] = &[
    "as_ref",
    "borrow",
    "builder",
    "clone",
    "deref",
    "for_resource",
    "from",
    "informer_for",
    "into",
    "new",
    "shutdown",
    "start",
    "to_owned",
    "try_from",
    "try_into",
    "type_id",
    "wait_for_cache_sync",
];

/// Methods of a group-version's client.
const CLIENT_METHODS: &[&str] = &["clone", "from", "into", "new", "rest_client"];

/// The names of a kind in the package, for code that uses it.
pub(crate) struct KindNames {
    /// Module of the group.
    pub(crate) group: String,
    /// Module of the version.
    pub(crate) version: String,
    /// Module of the kind's conversions, in the group's.
    pub(crate) conversions: String,
    /// Method of a group-version's client and informers.
    pub(crate) accessor: String,
    /// Method of a group's informers.
    pub(crate) version_accessor: String,
    /// Method of the clientset.
    pub(crate) group_version: String,
    /// Method of the informer factory.
    pub(crate) informer_group: String,
}

impl KindNames {
    pub(crate) fn new(group: &Group, version: &Version, resource: &Resource) -> Self {
        let group_module = group_module(&group.module);
        let version_module = module(&version.name, &group_module);
        Self {
            conversions: module(&resource.code.module, &group_module),
            accessor: accessor(&resource.code.accessor),
            version_accessor: accessor(&version.name),
            group_version: group_version(&group.module, &version.name),
            informer_group: factory_accessor(&group.informer_code_name.to_snake_case()),
            group: group_module,
            version: version_module,
        }
    }
}

/// A module, and the file or folder of the same name.
///
/// `parent` is the module around it: clippy rejects a module with the name of its parent.
pub(super) fn module(name: &str, parent: &str) -> String {
    let name = snake(name);
    if name == parent { apart(name, &[parent]) } else { apart(name, &[]) }
}

/// A group's module, distinct from the generated modules beside it.
pub(super) fn group_module(name: &str) -> String {
    apart(snake(name), GROUP_NEIGHBOURS)
}

/// A group-version's accessor on the clientset, without the underscore of a module named like a keyword.
pub(super) fn group_version(group_module: &str, version: &str) -> String {
    identifier(&format!("{}_{version}", group_module.trim_end_matches('_')))
}

/// A group's accessor on the informer factory.
pub(super) fn factory_accessor(name: &str) -> String {
    apart(snake(name), FACTORY_METHODS)
}

/// A kind's accessor on the client and the informers of its group-version, or a version's on its group's informers.
pub(super) fn accessor(name: &str) -> String {
    apart(snake(name), CLIENT_METHODS)
}

/// An identifier that is no keyword: for a function or field without neighbours, or a segment of a path.
pub(super) fn identifier(name: &str) -> String {
    apart(snake(name), &[])
}

/// The name without the `_` for keywords.
pub(super) fn bare(name: &str) -> &str {
    name.strip_suffix('_').filter(|bare| is_keyword(bare)).unwrap_or(name)
}

/// A type, or a part of a type's name, without dashes and with a capital first letter.
pub(super) fn type_part(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    let text: String = words.map(capital).collect();
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { text } else { format!("K{text}") }
}

/// The type of a kind's client, distinct from other names in its file.
pub(super) fn client(plural: &str) -> String {
    apart(type_part(plural), CLIENT_PRELUDE)
}

/// The type of a kind's client of one namespace.
pub(super) fn namespaced(plural: &str) -> String {
    format!("Namespaced{}", type_part(plural))
}

/// The trait with the accessor of a kind's client.
pub(super) fn getter(plural: &str) -> String {
    format!("{}Getter", type_part(plural))
}

/// The name reduced to the characters of an identifier. Names that passed the front end's check stay
/// unchanged.
fn snake(name: &str) -> String {
    let text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let text = text.trim_matches('_');
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { text.to_owned() } else { format!("n{text}") }
}

/// Appends `_` to keywords and taken names.
fn apart(name: String, taken: &[&str]) -> String {
    let clashes = is_keyword(&name) || taken.contains(&name.as_str());
    if clashes { name + "_" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyword_or_taken_name_gets_an_underscore() {
        assert_eq!(module("ecs_binding", "v1"), "ecs_binding");
        assert_eq!(module("type", "v1"), "type_");
        assert_eq!(module("mod", "v1"), "mod_");
        assert_eq!(module("self", "v1"), "self_");
        assert_eq!(module("v1", "v1"), "v1_");
        assert_eq!(group_module("generic"), "generic_");
        assert_eq!(group_version("async_", "v1"), "async_v1");
        assert_eq!(factory_accessor("start"), "start_");
        assert_eq!(factory_accessor("ecs_bind"), "ecs_bind");
        assert_eq!(accessor("rest_client"), "rest_client_");
        assert_eq!(client("patchParams"), "PatchParams_");
        assert_eq!(client("Carts"), "Carts");
        assert_eq!(namespaced("patchParams"), "NamespacedPatchParams");
        assert_eq!(getter("patchParams"), "PatchParamsGetter");
    }

    #[test]
    fn any_text_becomes_an_identifier() {
        for name in ["", "9", "a-b", "\"; fn x() {}", "\u{e4}", "_"] {
            assert!(syn::parse_str::<syn::Ident>(&module(name, "v1")).is_ok(), "{name:?}");
            assert!(syn::parse_str::<syn::Ident>(&type_part(name)).is_ok(), "{name:?}");
        }
    }
}
