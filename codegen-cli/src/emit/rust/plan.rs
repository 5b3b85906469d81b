//! Which files the package has, and what the placeholders of each stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heck::ToSnakeCase;

use super::apply::{ApplyTypes, Files};
use super::imports::{self, Imports};
use super::skeleton::Bindings;
use super::{Package, RustOptions, Template, conversions, docs, methods, names, root_docs};
use crate::ir::{Group, InputCrate, Ir, Resource, Scope, Verb, Version};

/// A file to be rendered.
pub(super) struct Job<'p> {
    /// Path relative to the package's source folder.
    pub(super) path: String,
    /// Where the API comes from, for the header.
    pub(super) source: &'p str,
    /// Its skeleton.
    pub(super) template: Template,
    /// What its placeholders stand for, beside the package's.
    pub(super) bindings: Arc<Bindings>,
}

/// What is to be rendered.
pub(super) struct Plan {
    /// What placeholders stand for in every file.
    pub(super) package: Bindings,
    sources: String,
    root: &'static str,
    clients: Part,
    fake: bool,
    apply: Files,
    informers: Part,
    listers: Part,
    validations: Part,
    scheme: Arc<Bindings>,
}

/// A kind with what its files need.
struct Kind {
    bindings: Arc<Bindings>,
    module: String,
    /// Path of the trait that gives its client, from the version's module.
    getter: String,
    source: String,
    client: bool,
    informer: bool,
    lister: bool,
    validation: bool,
}

/// The groups and versions that have a kind in one part of the package. Nothing in it: no part.
struct Part {
    /// Lists of all groups, versions and kinds of the part.
    bindings: Arc<Bindings>,
    groups: Vec<PartGroup>,
}

struct PartGroup {
    bindings: Arc<Bindings>,
    module: String,
    versions: Vec<PartVersion>,
}

struct PartVersion {
    bindings: Arc<Bindings>,
    module: String,
    kinds: Vec<Arc<Kind>>,
}

impl Plan {
    pub(super) fn new(ir: &Ir, options: &RustOptions) -> Self {
        let apply = ApplyTypes::new(ir, options);
        let nameable = ir.nameable();
        let kinds = |group: &Group| {
            let versions = group.versions.iter();
            versions
                .map(|version| kinds_of_version(ir, (group, version), &nameable, options, &apply))
                .collect()
        };
        let groups: Vec<_> = ir.groups.iter().map(|group| (group, kinds(group))).collect();
        let clients = Part::new(&groups, |kind| kind.client);
        let informers = Part::new(&groups, |kind| kind.informer);
        let listers = Part::new(&groups, |kind| kind.lister);
        let validations = Part::new(&groups, |kind| kind.validation);
        let scheme = Part::new(&groups, |_| true).bindings;
        let apply = apply.files(|file| source(ir, file));
        let module = matches!(options.package, Package::Module { .. });
        let package = Bindings::default()
            .path("root", root_path(&options.package))
            .text("RootDocs", root_docs::text(ir, options))
            .flag("module", module)
            .flag("fake_by_feature", options.parts.has_fake() && !module)
            .flag("fake_in_tests", options.parts.has_fake() && module)
            .flag("register_custom", options.hand_written.contains("clientset/register_custom.rs"))
            .flag("any_client", !clients.groups.is_empty())
            .flag("any_apply", !apply.groups.is_empty())
            .flag("any_conversions", options.parts.client && options.conversions && conversions::any(ir))
            .flag("any_defaults", options.parts.client && !options.defaults.is_empty())
            .flag("any_informer", !informers.groups.is_empty())
            .flag("any_lister", !listers.groups.is_empty())
            .flag("any_validation", !validations.groups.is_empty());
        let root = if module { "mod.rs" } else { "lib.rs" };
        let fake = options.parts.has_fake();
        let sources = packages(ir);
        Self { package, sources, root, clients, fake, apply, informers, listers, validations, scheme }
    }

    /// The files, in a fixed order.
    pub(super) fn jobs(&self) -> Vec<Job<'_>> {
        let mut jobs = Vec::new();
        self.job(&mut jobs, self.root, Template::Root, &self.clients.bindings);
        if !self.clients.groups.is_empty() {
            let all = &self.clients.bindings;
            self.job(&mut jobs, "clientset/mod.rs", Template::Clientset, all);
            self.job(&mut jobs, "clientset/scheme.rs", Template::Scheme, &self.scheme);
            if self.fake {
                self.job(&mut jobs, "clientset/fake/mod.rs", Template::Fake, all);
            }
            self.job(&mut jobs, "clientset/typed/mod.rs", Template::Typed, all);
            let templates = [Template::TypedGroup, Template::TypedVersion, Template::TypedKind];
            self.part_jobs(&mut jobs, "clientset/typed", &self.clients, templates);
            self.interface_jobs(&mut jobs, "clientset/typed");
        }
        if !self.apply.groups.is_empty() {
            self.apply_jobs(&mut jobs);
        }
        if !self.informers.groups.is_empty() {
            let all = &self.informers.bindings;
            self.job(&mut jobs, "informers/mod.rs", Template::Informers, all);
            self.job(&mut jobs, "informers/factory.rs", Template::InformerFactory, all);
            self.job(&mut jobs, "informers/generic.rs", Template::InformerGeneric, all);
            let templates = [Template::InformerGroup, Template::InformerVersion, Template::InformerKind];
            self.part_jobs(&mut jobs, "informers", &self.informers, templates);
        }
        if !self.listers.groups.is_empty() {
            self.job(&mut jobs, "listers/mod.rs", Template::Listers, &self.listers.bindings);
            let templates = [Template::ListersGroup, Template::ListersVersion, Template::ListerKind];
            self.part_jobs(&mut jobs, "listers", &self.listers, templates);
        }
        if !self.validations.groups.is_empty() {
            self.job(&mut jobs, "validations/mod.rs", Template::Validations, &self.validations.bindings);
            let templates =
                [Template::ValidationsGroup, Template::ValidationsVersion, Template::ValidationKind];
            self.part_jobs(&mut jobs, "validations", &self.validations, templates);
        }
        jobs
    }

    fn job<'p>(&'p self, jobs: &mut Vec<Job<'p>>, path: &str, template: Template, bindings: &Arc<Bindings>) {
        jobs.push(Job {
            path: path.to_owned(),
            source: &self.sources,
            template,
            bindings: Arc::clone(bindings),
        });
    }

    /// The files of the apply configurations.
    fn apply_jobs<'p>(&'p self, jobs: &mut Vec<Job<'p>>) {
        let folder = "applyconfigurations";
        self.job(jobs, &format!("{folder}/mod.rs"), Template::Apply, &self.apply.bindings);
        for group in &self.apply.groups {
            let folder = format!("{folder}/{}", group.module);
            self.job(jobs, &format!("{folder}/mod.rs"), Template::ApplyGroup, &group.bindings);
            for version in &group.versions {
                let folder = format!("{folder}/{}", version.module);
                self.job(jobs, &format!("{folder}/mod.rs"), Template::ApplyVersion, &version.bindings);
                jobs.extend(version.types.iter().map(|file| Job {
                    path: format!("{folder}/{}.rs", file.module),
                    source: &file.source,
                    template: Template::ApplyType,
                    bindings: Arc::clone(&file.bindings),
                }));
            }
        }
    }

    /// The files with the clients' traits.
    fn interface_jobs<'p>(&'p self, jobs: &mut Vec<Job<'p>>, folder: &str) {
        for group in &self.clients.groups {
            for version in &group.versions {
                jobs.extend(version.kinds.iter().map(|kind| Job {
                    path: format!(
                        "{folder}/{}/{}/{}/interface.rs",
                        group.module, version.module, kind.module
                    ),
                    source: &kind.source,
                    template: Template::TypedInterface,
                    bindings: Arc::clone(&kind.bindings),
                }));
            }
        }
    }

    /// The files of a part's groups, versions and kinds.
    fn part_jobs<'p>(
        &'p self,
        jobs: &mut Vec<Job<'p>>,
        folder: &str,
        part: &'p Part,
        templates: [Template; 3],
    ) {
        let [group_template, version_template, kind_template] = templates;
        for group in &part.groups {
            let folder = format!("{folder}/{}", group.module);
            self.job(jobs, &format!("{folder}/mod.rs"), group_template, &group.bindings);
            for version in &group.versions {
                let folder = format!("{folder}/{}", version.module);
                self.job(jobs, &format!("{folder}/mod.rs"), version_template, &version.bindings);
                jobs.extend(version.kinds.iter().map(|kind| Job {
                    path: format!("{folder}/{}.rs", kind.module),
                    source: &kind.source,
                    template: kind_template,
                    bindings: Arc::clone(&kind.bindings),
                }));
            }
        }
    }
}

impl Part {
    fn new(groups: &[(&Group, Vec<Vec<Arc<Kind>>>)], keep: impl Fn(&Kind) -> bool) -> Self {
        let mut part_groups = Vec::new();
        for (group, versions) in groups {
            let module = names::group_module(&group.module);
            let mut part_versions = Vec::new();
            for (version, kinds) in group.versions.iter().zip(versions) {
                let kinds: Vec<_> = kinds.iter().filter(|kind| keep(kind)).cloned().collect();
                if !kinds.is_empty() {
                    let list = kinds.iter().map(|kind| Arc::clone(&kind.bindings)).collect();
                    let getters = kinds.iter().map(|kind| kind.getter.clone()).collect();
                    let names = version_names(group, version).traits("Getters", getters);
                    let bindings = Arc::new(names.list("kind", list));
                    let module = names::module(&version.name, &module);
                    part_versions.push(PartVersion { bindings, module, kinds });
                }
            }
            if !part_versions.is_empty() {
                let list = part_versions.iter().map(|version| Arc::clone(&version.bindings)).collect();
                let bindings = Arc::new(group_names(group).list("version", list));
                part_groups.push(PartGroup { bindings, module, versions: part_versions });
            }
        }
        let versions = || part_groups.iter().flat_map(|group| &group.versions);
        let bindings = Bindings::default()
            .list("group", part_groups.iter().map(|group| Arc::clone(&group.bindings)).collect())
            .list("version", versions().map(|version| Arc::clone(&version.bindings)).collect())
            .list(
                "kind",
                versions().flat_map(|it| &it.kinds).map(|kind| Arc::clone(&kind.bindings)).collect(),
            );
        Self { bindings: Arc::new(bindings), groups: part_groups }
    }
}

/// Where the types of Kubernetes come from, for headers.
pub(super) const BUILT_IN_SOURCE: &str = "k8s-openapi";

/// The packages that the types come from, for headers.
pub(super) fn packages(ir: &Ir) -> String {
    let mut resources = ir.groups.iter().flat_map(|group| &group.versions).flat_map(|it| &it.resources);
    let built_in = resources.any(Resource::is_built_in).then_some(BUILT_IN_SOURCE);
    ir.crates.iter().map(|input| input.package.as_str()).chain(built_in).collect::<Vec<_>>().join(", ")
}

/// A source file by its package: the same whatever folder the tool runs in.
fn source(ir: &Ir, file: &str) -> String {
    let inside = |input: &InputCrate| {
        // Files of the current folder are named without it.
        let rest =
            if input.path == "." { file } else { file.strip_prefix(&input.path)?.strip_prefix('/')? };
        Some((input.path.len(), format!("{}/{rest}", input.package)))
    };
    // A crate's folder may lie in another's; the inner one is meant.
    let innermost = ir.crates.iter().filter_map(inside).max_by_key(|(depth, _)| *depth);
    innermost.map_or_else(|| file.to_owned(), |(_, source)| source)
}

/// Path of the generated tree's root, as seen from inside it.
pub(super) fn root_path(package: &Package) -> String {
    match package {
        Package::Crate { .. } => "crate".to_owned(),
        Package::Module { path, .. } => plain_path(path),
    }
}

/// A path of plain segments; a segment that is no identifier becomes one.
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

/// The path by which generated code names the user's type.
pub(super) fn object_path(type_path: &str, package: &Package) -> String {
    let (first, rest) = type_path.split_once("::").unwrap_or(("", type_path));
    match package {
        Package::Module { own_lib: Some(own), .. } if own == first => plain_path(&format!("crate::{rest}")),
        // The built-in types are those the runtime was built with.
        _ if matches!(first, "k8s_openapi" | "serde_json") => {
            plain_path(&format!("::kubesmith_runtime::{type_path}"))
        }
        _ => plain_path(&format!("::{type_path}")),
    }
}

fn group_names(group: &Group) -> Bindings {
    Bindings::default()
        .text("group", names::group_module(&group.module))
        .text("Group_Name", &group.name)
        .text("GroupTitle", docs::plain(if group.name.is_empty() { "core" } else { &group.name }))
        .text("InformerGroup", names::type_part(&group.informer_code_name))
        .text("informer_group", names::factory_accessor(&group.informer_code_name.to_snake_case()))
}

fn version_names(group: &Group, version: &Version) -> Bindings {
    let module = names::group_module(&group.module);
    let code_name = names::type_part(&version.code_name);
    group_names(group)
        .text("version", names::module(&version.name, &module))
        .text("version_name", &version.name)
        .text("version_accessor", names::accessor(&version.name))
        .text("ApiVersion", docs::plain(&api_version(group, version)))
        .text("GroupVersion", names::type_part(&group.code_name) + &code_name)
        .text("InformerGroupVersion", names::type_part(&group.informer_code_name) + &code_name)
        .text("group_version", names::group_version(&group.module, &version.name))
}

/// The folder of a version in every part of the tree.
fn group_and_version(group: &Group, version: &Version) -> String {
    let group = names::group_module(&group.module);
    format!("{group}/{}", names::module(&version.name, &group))
}

/// `group/version`, or the version alone in the core group.
pub(super) fn api_version(group: &Group, version: &Version) -> String {
    if group.name.is_empty() { version.name.clone() } else { format!("{}/{}", group.name, version.name) }
}

/// The kinds whose types the package can name: those with a client, and others of their crates.
fn kinds_of_version(
    ir: &Ir,
    (group, version): (&Group, &Version),
    nameable: &BTreeSet<&str>,
    options: &RustOptions,
    apply: &ApplyTypes,
) -> Vec<Arc<Kind>> {
    let taken = exported_names(group, version);
    let once = |resource: &&Resource| exports(resource).iter().all(|name| taken[name] == 1);
    version
        .resources
        .iter()
        .filter(|resource| nameable.contains(resource.code.lib()))
        .map(|resource| {
            let source = match resource.is_built_in() {
                true => BUILT_IN_SOURCE.to_owned(),
                false => source(ir, &resource.span.file),
            };
            let of_kind = OfKind {
                source,
                reexport: once(&resource),
                configuration: apply.path_of_kind(ir, resource.root),
                methods: methods::bindings(ir, resource, apply, options),
            };
            Arc::new(kind(group, version, resource, of_kind, options))
        })
        .collect()
}

/// How often each name would be re-exported by the version's modules. A name wanted twice
/// (`NamespacedFoos` of the kinds Foo and NamespacedFoo) is reached through its kind's module only.
fn exported_names(group: &Group, version: &Version) -> BTreeMap<String, usize> {
    let group_version = names::type_part(&group.code_name) + &names::type_part(&version.code_name);
    let mut taken =
        BTreeMap::from([(format!("{group_version}Client"), 1), (format!("{group_version}Interface"), 1)]);
    for name in version.resources.iter().flat_map(exports) {
        *taken.entry(name).or_default() += 1;
    }
    taken
}

fn exports(resource: &Resource) -> Vec<String> {
    let (kind, plural) = (names::type_part(&resource.kind), names::client(&resource.code.plural));
    let mut exports = ["Lister", "Informer", "Interface"].map(|name| format!("{kind}{name}")).to_vec();
    exports.push(names::getter(&resource.code.plural));
    if resource.scope == Scope::Namespaced {
        exports.extend([format!("{kind}NamespaceLister"), names::namespaced(&resource.code.plural)]);
    }
    exports.push(plural);
    exports
}

/// What is known of a kind beside its description.
struct OfKind {
    source: String,
    /// Whether the version's module exports its names.
    reexport: bool,
    /// Path of its apply configuration.
    configuration: Option<String>,
    methods: Vec<Arc<Bindings>>,
}

fn kind(
    group: &Group,
    version: &Version,
    resource: &Resource,
    of_kind: OfKind,
    options: &RustOptions,
) -> Kind {
    let OfKind { source, reexport, configuration, methods } = of_kind;
    let verbs = resource.client.as_ref().map_or(&[][..], |tags| &tags.verbs);
    let has = |verb: Verb| verbs.contains(&verb);
    let client = options.parts.client && resource.client.is_some();
    let informer = options.parts.informer && has(Verb::List) && has(Verb::Watch);
    let lister = options.parts.lister && has(Verb::List) && has(Verb::Get);
    let namespaced = resource.scope == Scope::Namespaced;
    let module = names::module(&resource.code.module, &names::module(&version.name, &group.module));
    let plural = names::client(&resource.code.plural);
    let getter_trait = names::getter(&resource.code.plural);
    let getter = format!("self::{module}::{getter_trait}");
    let folder = group_and_version(group, version);
    let extended =
        |part: &str| options.hand_written.contains(&format!("{part}/{folder}/{module}_expansion.rs"));
    let bindings = version_names(group, version)
        .text("Kind", names::type_part(&resource.kind))
        .text("ListKind", &resource.list_kind)
        .text("Client", if namespaced { names::namespaced(&resource.code.plural) } else { plural.clone() })
        .text("Plural", plural)
        .text("Getter", getter_trait)
        .text("accessor", names::accessor(&resource.code.accessor))
        .text("module", &module)
        .text("resource", &resource.plural)
        .text("crd_name", options.validated.get(&resource.root).map_or("", String::as_str))
        .text("Summary", docs::summary(&resource.code.summary))
        .flag("namespaced", namespaced)
        .flag("cluster", !namespaced)
        .flag("reexport", reexport)
        .flag("listed", !resource.list_kind.is_empty())
        .flag("configured", configuration.is_some())
        .flag("applies", has(Verb::Apply) || has(Verb::ApplyStatus))
        .flag("lister", lister)
        .flag("status", resource.crd.status_subresource)
        .flag("client_expansion", extended("clientset/typed"))
        .flag("lister_expansion", extended("listers"))
        .flag("any_verb", !(verbs.is_empty() && methods.is_empty()))
        .flag("has_verbs", !verbs.is_empty())
        .flag("any_patch", has(Verb::Patch) || methods::any_patch(resource))
        .flag("any_patch_method", methods::any_patch(resource))
        .flag("list_or_watch", has(Verb::List) || has(Verb::Watch))
        .list("method", methods);
    let bindings = VERBS.iter().fold(bindings, |bindings, (name, verb)| bindings.flag(name, has(*verb)));
    let object = object_path(&resource.code.type_path, &options.package);
    let mut imports = Imports::new(exports(resource));
    let bindings = imports.bind(bindings, &imports::OBJECT, &object);
    let bindings =
        imports.bind(bindings, &imports::CONFIGURATION, configuration.as_deref().unwrap_or_default());
    let validation = options.validated.contains_key(&resource.root);
    Kind { bindings: Arc::new(bindings), module, getter, source, client, informer, lister, validation }
}

/// The flags of the verbs.
const VERBS: [(&str, Verb); 11] = [
    ("create", Verb::Create),
    ("update", Verb::Update),
    ("update_status", Verb::UpdateStatus),
    ("delete", Verb::Delete),
    ("delete_collection", Verb::DeleteCollection),
    ("get", Verb::Get),
    ("list", Verb::List),
    ("watch", Verb::Watch),
    ("patch", Verb::Patch),
    ("apply", Verb::Apply),
    ("apply_status", Verb::ApplyStatus),
];
