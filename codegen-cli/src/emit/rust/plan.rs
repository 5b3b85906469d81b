//! Plans the kinds of the package with all their names.

use std::collections::{BTreeMap, BTreeSet};

use heck::ToSnakeCase;
use kubesmith_core::names::is_in_prelude;

use super::apply::ApplyTypes;
use super::{Package, RustOptions, docs, names};
use crate::ir::{Group, Ir, Method, Resource, Scope, Verb, Version};

/// The plan of the package's parts.
pub(super) struct Plan<'i> {
    pub(super) ir: &'i Ir,
    pub(super) options: &'i RustOptions,
    /// The packages of the types, for headers.
    pub(super) sources: String,
    /// Path of the package's root, from inside it.
    pub(super) root: String,
    pub(super) apply: ApplyTypes,
    /// Every kind with a nameable type, by group and version.
    pub(super) groups: Vec<GroupPlan<'i>>,
}

/// A group.
pub(super) struct GroupPlan<'i> {
    /// Its name in documentation.
    pub(super) title: String,
    /// Its module in every part.
    pub(super) module: String,
    /// The type of its informers.
    pub(super) informers: String,
    /// The accessor of its informers.
    pub(super) informers_accessor: String,
    pub(super) versions: Vec<VersionPlan<'i>>,
}

/// A version of a group.
pub(super) struct VersionPlan<'i> {
    /// The group's name; empty for the core group.
    pub(super) group: &'i str,
    /// `v1alpha1`
    pub(super) name: &'i str,
    /// `exposer.example.com/v1alpha1`, for documentation.
    pub(super) api_version: String,
    pub(super) module: String,
    /// Its accessor beside those of the group's other versions.
    pub(super) accessor: String,
    /// Its accessor in the clientset.
    pub(super) group_version: String,
    /// The type in the clientset: `ExposerV1alpha1`, before `Client` and `Interface`.
    pub(super) type_name: String,
    /// The type of its informers.
    pub(super) informers: String,
    pub(super) kinds: Vec<KindPlan<'i>>,
}

/// A kind.
pub(super) struct KindPlan<'i> {
    pub(super) resource: &'i Resource,
    /// The kind as a part of types' names.
    pub(super) kind: String,
    /// The name of the kind's expansions.
    pub(super) module: String,
    pub(super) accessor: String,
    /// Type of the client: of all namespaces, or of the cluster.
    pub(super) plural: String,
    /// Type of the client of a namespace, or of the cluster.
    pub(super) client: String,
    /// Trait with the accessor of its client, and the associated type in it.
    pub(super) getter: (String, String),
    /// Trait of its client.
    pub(super) interface: String,
    pub(super) lister: String,
    pub(super) namespace_lister: String,
    pub(super) informer: String,
    /// Path of its type.
    pub(super) object: String,
    /// Path of its apply configuration.
    pub(super) configuration: Option<String>,
    /// The first paragraph of its documentation.
    pub(super) summary: String,
    /// The parts with the kind.
    pub(super) parts: KindParts,
    /// Whether handwritten files extend its client and its lister.
    pub(super) extended: Extended,
}

/// The parts of the package with a kind.
#[derive(Clone, Copy)]
pub(super) struct KindParts {
    pub(super) client: bool,
    pub(super) informer: bool,
    pub(super) lister: bool,
}

/// The parts of a kind with handwritten extensions.
#[derive(Clone, Copy)]
pub(super) struct Extended {
    pub(super) client: bool,
    pub(super) lister: bool,
}

/// A version with kinds in a part, with its group and these kinds.
pub(super) struct Part<'p> {
    pub(super) group: &'p GroupPlan<'p>,
    pub(super) version: &'p VersionPlan<'p>,
    pub(super) kinds: Vec<&'p KindPlan<'p>>,
}

impl<'i> Plan<'i> {
    pub(super) fn new(ir: &'i Ir, options: &'i RustOptions) -> Self {
        let apply = ApplyTypes::new(ir, options);
        let nameable = ir.nameable();
        let version = |group: &'i Group, version: &'i Version| {
            let kinds = version.resources.iter().filter(|kind| nameable.contains(kind.code.lib()));
            let kinds = kinds.map(|resource| kind(ir, options, &apply, (group, version), resource)).collect();
            version_plan(group, version, kinds)
        };
        let groups = ir.groups.iter().map(|group| GroupPlan {
            title: docs::plain(if group.name.is_empty() { "core" } else { &group.name }),
            module: names::group_module(&group.module),
            informers: format!("{}Informers", names::type_part(&group.informer_code_name)),
            informers_accessor: names::factory_accessor(&group.informer_code_name.to_snake_case()),
            versions: group.versions.iter().map(|it| version(group, it)).collect(),
        });
        let groups = groups.collect();
        Self { ir, options, sources: packages(ir), root: root_path(&options.package), apply, groups }
    }

    /// The versions of a part of the package, in order.
    pub(super) fn part(&self, has: impl Fn(&KindPlan<'_>) -> bool) -> Vec<Part<'_>> {
        let versions = self.groups.iter().flat_map(|group| group.versions.iter().map(move |it| (group, it)));
        let parts = versions.map(|(group, version)| Part {
            group,
            version,
            kinds: version.kinds.iter().filter(|kind| has(kind)).collect(),
        });
        parts.filter(|part| !part.kinds.is_empty()).collect()
    }

    /// The versions with clients.
    pub(super) fn clients(&self) -> Vec<Part<'_>> {
        self.part(|kind| kind.parts.client)
    }

    /// The versions with informers.
    pub(super) fn informers(&self) -> Vec<Part<'_>> {
        self.part(|kind| kind.parts.informer)
    }

    /// The versions with listers.
    pub(super) fn listers(&self) -> Vec<Part<'_>> {
        self.part(|kind| kind.parts.lister)
    }

    /// The versions with validations.
    pub(super) fn validations(&self) -> Vec<Part<'_>> {
        self.part(|kind| self.options.validated.contains_key(&kind.resource.root))
    }
}

impl KindPlan<'_> {
    /// Whether the kind's client has the verb.
    pub(super) fn has(&self, verb: Verb) -> bool {
        has(self.resource, verb)
    }

    pub(super) fn is_namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    /// The methods of its client with names of their own.
    pub(super) fn methods(&self) -> &[Method] {
        self.resource.client.as_ref().map_or(&[], |tags| &tags.methods)
    }

    /// Documentation of a type of the kind: `what` it is, and the user's documentation of the kind.
    pub(super) fn docs(&self, what: String) -> String {
        if self.summary.is_empty() { what } else { format!("{what}\n\n{}", self.summary) }
    }
}

impl Part<'_> {
    /// Path of the version's module in a part of the package: `exposer::v1alpha1`.
    pub(super) fn path(&self) -> String {
        format!("{}::{}", self.group.module, self.version.module)
    }

    /// The version's file in a folder.
    pub(super) fn file(&self, folder: &str) -> String {
        format!("{folder}/{}/{}.rs", self.group.module, self.version.module)
    }
}

fn has(resource: &Resource, verb: Verb) -> bool {
    resource.client.as_ref().is_some_and(|tags| tags.verbs.contains(&verb))
}

fn version_plan<'i>(group: &'i Group, version: &'i Version, mut kinds: Vec<KindPlan<'i>>) -> VersionPlan<'i> {
    let code_name = names::type_part(&version.code_name);
    let type_name = names::type_part(&group.code_name) + &code_name;
    let informers = format!("{}{code_name}Informers", names::type_part(&group.informer_code_name));
    let mut clients = BTreeSet::from([format!("{type_name}Client"), format!("{type_name}Interface")]);
    let (mut listers, mut informer_types) = (BTreeSet::new(), BTreeSet::from([informers.clone()]));
    for kind in &mut kinds {
        free(&mut clients, &mut kind.interface);
        free(&mut clients, &mut kind.getter.0);
        free(&mut clients, &mut kind.plural);
        match kind.is_namespaced() {
            true => free(&mut clients, &mut kind.client),
            false => kind.client.clone_from(&kind.plural),
        }
        free(&mut listers, &mut kind.lister);
        free(&mut listers, &mut kind.namespace_lister);
        free(&mut informer_types, &mut kind.informer);
    }
    let module = names::group_module(&group.module);
    VersionPlan {
        group: &group.name,
        name: &version.name,
        api_version: docs::plain(&api_version(group, version)),
        module: names::module(&version.name, &module),
        accessor: names::accessor(&version.name),
        group_version: names::group_version(&group.module, &version.name),
        type_name,
        informers,
        kinds,
    }
}

/// Makes a name unique in the file: `NamespacedFoos_` of the kind NamespacedFoo, beside Foo.
fn free(taken: &mut BTreeSet<String>, name: &mut String) {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
}

fn kind<'i>(
    ir: &'i Ir,
    options: &RustOptions,
    apply: &ApplyTypes,
    (group, version): (&Group, &Version),
    resource: &'i Resource,
) -> KindPlan<'i> {
    let group_module = names::group_module(&group.module);
    let folder = format!("{group_module}/{}", names::module(&version.name, &group_module));
    let module = names::module(&resource.code.module, &names::module(&version.name, &group.module));
    let extended =
        |part: &str| options.hand_written.contains(&format!("{part}/{folder}/{module}_expansion.rs"));
    let extended = Extended { client: extended("clientset/typed"), lister: extended("listers") };
    let lists = has(resource, Verb::List);
    let parts = KindParts {
        client: options.parts.client && resource.client.is_some(),
        informer: options.parts.informer && lists && has(resource, Verb::Watch),
        lister: options.parts.lister && lists && has(resource, Verb::Get),
    };
    let kind = names::type_part(&resource.kind);
    let plural = names::client(&resource.code.plural);
    KindPlan {
        accessor: names::accessor(&resource.code.accessor),
        client: names::namespaced(&resource.code.plural),
        getter: (names::getter(&resource.code.plural), plural.clone()),
        interface: format!("{kind}Interface"),
        lister: format!("{kind}Lister"),
        namespace_lister: format!("{kind}NamespaceLister"),
        informer: format!("{kind}Informer"),
        object: object_path(&resource.code.type_path, &options.package),
        configuration: apply.path_of_kind(ir, resource.root),
        summary: docs::summary(&resource.code.summary),
        resource,
        kind,
        module,
        plural,
        parts,
        extended,
    }
}

/// The types that a file imports. Other types have full paths.
#[derive(Default)]
pub(super) struct Imports {
    /// Names with another meaning in the file.
    taken: BTreeSet<String>,
    /// The names of the imported types, by their paths.
    imported: BTreeMap<String, String>,
}

impl Imports {
    /// The imports of a file that defines types with these names.
    pub(super) fn new(own: impl IntoIterator<Item = String>) -> Self {
        Self { taken: own.into_iter().collect(), imported: BTreeMap::new() }
    }

    /// Imports a type, unless its name is taken.
    pub(super) fn add(&mut self, path: &str) {
        let Some((_, name)) = path.rsplit_once("::") else { return };
        if !self.imported.contains_key(path) && !is_in_prelude(name) && self.taken.insert(name.to_owned()) {
            self.imported.insert(path.to_owned(), name.to_owned());
        }
    }

    /// The name of the type with this path in the file.
    pub(super) fn name<'p>(&'p self, path: &'p str) -> &'p str {
        self.imported.get(path).map_or(path, String::as_str)
    }

    /// The imported paths, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.imported.keys().map(String::as_str)
    }
}

/// The source of Kubernetes' types, for headers.
pub(super) const BUILT_IN_SOURCE: &str = "k8s-openapi";

/// The packages of the types, for headers.
pub(super) fn packages(ir: &Ir) -> String {
    let mut resources = ir.groups.iter().flat_map(|group| &group.versions).flat_map(|it| &it.resources);
    let built_in = resources.any(Resource::is_built_in).then_some(BUILT_IN_SOURCE);
    ir.crates.iter().map(|input| input.package.as_str()).chain(built_in).collect::<Vec<_>>().join(", ")
}

/// Path of the generated tree's root, from inside it.
pub(super) fn root_path(package: &Package) -> String {
    match package {
        Package::Crate { .. } => "crate".to_owned(),
        Package::Module { path, .. } => plain_path(path),
    }
}

/// A path of plain segments; other segments become identifiers.
fn plain_path(path: &str) -> String {
    if syn::parse_str::<syn::Path>(path)
        .is_ok_and(|path| path.segments.iter().all(|it| it.arguments.is_none()))
    {
        return path.to_owned();
    }
    let segments: Vec<_> =
        path.split("::").filter(|segment| !segment.is_empty()).map(names::identifier).collect();
    segments.join("::")
}

/// The path of the user's type in generated code.
pub(super) fn object_path(type_path: &str, package: &Package) -> String {
    let (first, rest) = type_path.split_once("::").unwrap_or(("", type_path));
    match package {
        Package::Module { own_lib: Some(own), .. } if own == first => plain_path(&format!("crate::{rest}")),
        // The built-in types are those of the runtime's build.
        _ if matches!(first, "k8s_openapi" | "serde_json") => {
            plain_path(&format!("::kubesmith_runtime::{type_path}"))
        }
        _ => plain_path(&format!("::{type_path}")),
    }
}

/// `group/version`, or the version alone in the core group.
pub(super) fn api_version(group: &Group, version: &Version) -> String {
    if group.name.is_empty() { version.name.clone() } else { format!("{}/{}", group.name, version.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_is_imported_unless_its_name_is_taken() {
        let mut imports = Imports::new(["Endpoints".to_owned()]);
        for (path, name) in [
            ("::a::Cart", "Cart"),
            ("::b::Cart", "::b::Cart"),
            ("::shop_api::Vec", "::shop_api::Vec"),
            ("::k8s::Endpoints", "::k8s::Endpoints"),
            ("Cart", "Cart"),
        ] {
            imports.add(path);
            assert_eq!(imports.name(path), name);
        }
        assert_eq!(imports.paths().collect::<Vec<_>>(), ["::a::Cart"]);
    }
}
