//! Lowers root types: from `#[resource]` and `#[genclient]` to the resources of groups and versions.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::Code;
use kubesmith_core::model::missing_facts;
use kubesmith_core::names;

use super::generics::Scope;
use super::{ClientUse, Ctx};
use crate::diag::Diagnostic;
use crate::docs;
use crate::ir::{
    ClientTags, CrdStyle, Group, Places, Resource, ResourceCode, Shape, TypeDef, TypeId, Version,
};
use crate::lower::kube::Dialect;
use crate::resolve::ItemId;
use crate::schema::Schema;
use crate::source::Loc;
use crate::syntax::facts::{GenclientFacts, ResourceFacts};
use crate::syntax::kube::CustomResource;
use crate::syntax::{Name, PathExpr, TypeItem};

/// The field of a root type whose place in an object is fixed.
pub(super) const METADATA: &str = "metadata";

/// The facts of a root type apart from its attribute.
struct Root {
    id: TypeId,
    type_path: String,
    has_status_field: bool,
    client: Option<ClientTags>,
    summary: String,
    loc: Loc,
}

/// A resource with facts of its group.
pub(super) struct Lowered {
    group: Name,
    version: String,
    code_name: Option<Name>,
    informer_code_name: Option<Name>,
    resource: Resource,
}

impl Ctx<'_> {
    /// Lowers a root type; `None` after a diagnostic.
    pub(super) fn resource(&mut self, id: ItemId, item: &TypeItem, facts: &ResourceFacts) -> Option<Lowered> {
        let path = self.root_path(id, item);
        let module = self.resolver.module_facts(id);
        let group = facts.group.clone().or_else(|| module.group.clone());
        let version = facts.version.clone().or_else(|| module.version.clone());
        for missing in missing_facts(&item.name.text, facts.is_given, (group.is_some(), version.is_some())) {
            self.diagnostics
                .push(Diagnostic::error(missing.code, facts.loc, missing.message).help(missing.help));
        }
        let root = self.root(id, item)?;
        let definition = &mut self.types[root.0 as usize];
        let mut has_status_field = false;
        if let Shape::Struct(fields) = &mut definition.shape {
            has_status_field = fields.iter().any(|field| field.name == "status");
            // The API server fills in metadata; only an explicit attribute makes it required.
            for field in fields.iter_mut().filter(|field| field.name == METADATA) {
                field.required = metadata_presence(item) == Some(true);
            }
        }
        let client = match (&item.genclient, &path) {
            (Some(tags), Some(path)) => Some(self.client(id, tags, has_status_field, facts, path)),
            _ => None,
        };
        let summary = item.description.as_deref().map(docs::summary).unwrap_or_default();
        let root = Root { id: root, type_path: path?, has_status_field, client, summary, loc: item.name.loc };
        Some(self.lowered(facts, (group?, version?), module.code_name, root))
    }

    /// Lowers the chosen resources in kube's dialect.
    pub(super) fn custom_resources(&mut self, chosen: &BTreeSet<ItemId>) -> Vec<Lowered> {
        let resolver = self.resolver;
        let found = resolver.items().filter(|(id, _)| chosen.contains(id));
        let found = found.filter_map(|(id, item)| Some((id, item.custom_resource.as_deref()?)));
        let crates = self.crates;
        let mut dialect = Dialect::new(self);
        let made: Vec<_> = found
            .map(|(id, resource)| {
                dialect.lock(crates.list[id.krate].locked);
                let schema = dialect.root(id, resource);
                let places = if schema.is_some() { dialect.places(id, resource) } else { BTreeMap::new() };
                (id, resource, schema, places)
            })
            .collect();
        let all: Vec<&CustomResource> = made.iter().map(|(_, resource, ..)| *resource).collect();
        let lowered = made.into_iter().filter_map(|(id, resource, schema, places)| {
            let places = places.into_iter().map(|(path, loc)| (path, self.sources.span(loc))).collect();
            let mut lowered = self.custom_resource(id, resource, schema?, places)?;
            lowered.resource.crd.storage = is_stored(resource, &all, &crates.list[id.krate].stored);
            Some(lowered)
        });
        lowered.collect()
    }

    fn custom_resource(
        &mut self,
        id: ItemId,
        resource: &CustomResource,
        schema: Schema,
        places: Places,
    ) -> Option<Lowered> {
        let facts = &resource.facts;
        let spec = self.resolver.definition_path(id);
        let module = spec.rsplit_once("::").map_or("", |(module, _)| module);
        let path = format!("{module}::{}", resource.root.text);
        let public = self.resolver.public_root_path(id).filter(|_| !self.crates.list[id.krate].is_program);
        let has_status_field = resource.status.is_some();
        let client = public
            .as_deref()
            .filter(|_| self.options.client != ClientUse::None)
            .map(|public| self.client(id, &GenclientFacts::every_verb(), has_status_field, facts, public));
        let definition = TypeDef {
            path: path.clone(),
            code_path: None,
            whole: true,
            non_exhaustive: false,
            span: self.sources.span(self.resolver.item(id).name.loc),
            description: schema.description.clone(),
            shape: Shape::Given(Box::new(schema)),
            facts: Schema::default(),
            places,
        };
        let root = Root {
            id: self.add(definition),
            type_path: public.unwrap_or(path),
            has_status_field,
            client,
            summary: String::new(),
            loc: self.resolver.item(id).name.loc,
        };
        Some(self.lowered(facts, (facts.group.clone()?, facts.version.clone()?), None, root))
    }

    fn lowered(
        &mut self,
        facts: &ResourceFacts,
        (group, version): (Name, Name),
        code_name: Option<Name>,
        root: Root,
    ) -> Lowered {
        let policies = self.policies(facts, &group.text, &version.text);
        let plural = names::pluralize_type(&facts.kind.text);
        let code = ResourceCode::new(root.type_path, &facts.kind.text, plural, root.summary);
        Lowered {
            group,
            version: version.text,
            code_name: facts.code_name.clone().or(code_name),
            informer_code_name: facts.informer_code_name.clone(),
            resource: Resource {
                kind: facts.kind.text.clone(),
                list_kind: facts.list_kind.text.clone(),
                plural: facts.plural.text.clone(),
                singular: facts.singular.text.clone(),
                short_names: texts(&facts.short_names),
                categories: texts(&facts.categories),
                scope: facts.scope,
                code,
                crd: facts.crd.clone(),
                client: root.client,
                root: root.id,
                has_status_field: root.has_status_field,
                span: self.sources.span(root.loc),
                places: self.spans(&facts.places),
                policies,
            },
        }
    }

    /// The path of a root type in generated code; `None` after a diagnostic.
    fn root_path(&mut self, id: ItemId, item: &TypeItem) -> Option<String> {
        let is_program = self.crates.list[id.krate].is_program;
        let is_named = match self.options.client {
            ClientUse::None => false,
            // The module is in the program itself.
            ClientUse::Module => !is_program,
            ClientUse::Package => !is_program || item.genclient.is_some(),
        };
        let path = self.resolver.public_path(id).filter(|_| !is_program);
        if path.is_some() || !is_named {
            return path.or_else(|| Some(self.resolver.definition_path(id)));
        }
        let name = &item.name;
        let diagnostic = if is_program {
            let message =
                format!("`{}` belongs to a program, which no client package can depend on", name.text);
            Diagnostic::error(Code::PRIVATE_TYPE, name.loc, message)
                .help("move the types to a library (src/lib.rs), or write CRDs alone with `--only crd`")
        } else {
            let message = format!("`{}` cannot be named from outside of its crate", name.text);
            Diagnostic::error(Code::PRIVATE_TYPE, name.loc, message)
                .note("generated code is another crate or module and uses the type by its path")
                .help("make the type and the modules around it `pub`, or re-export it with `pub use`")
        };
        self.diagnostics.push(diagnostic);
        None
    }

    /// The root type in the arena.
    fn root(&mut self, id: ItemId, item: &TypeItem) -> Option<TypeId> {
        let path = PathExpr {
            global: false,
            segments: vec![item.name.text.clone()],
            arguments: Vec::new(),
            loc: item.name.loc,
        };
        let scope = self.bind(&Scope::from(id), &path, id)?;
        self.type_id(id, &scope, &path)
    }

    /// Sorts resources into groups and versions. All resources of a group must have the same group facts.
    pub(super) fn groups(&mut self, resources: Vec<Lowered>) -> Vec<Group> {
        let mut groups: BTreeMap<String, Vec<Lowered>> = BTreeMap::new();
        for resource in resources {
            groups.entry(resource.group.text.clone()).or_default().push(resource);
        }
        let groups = groups.into_iter().map(|(name, resources)| self.group(name, resources));
        let mut groups: Vec<Group> = groups.collect();
        tell_apart(&mut groups);
        groups
    }

    fn group(&mut self, name: String, resources: Vec<Lowered>) -> Group {
        let code =
            self.agreed("group_name_in_code", &name, resources.iter().filter_map(|r| r.code_name.as_ref()));
        let informer = self.agreed(
            "informer_group_name",
            &name,
            resources.iter().filter_map(|r| r.informer_code_name.as_ref()),
        );
        let code_name = code.unwrap_or_else(|| {
            names::Group::parse(&name)
                .map_or_else(|_| names::upper_camel_case(&name), |group| group.code_name())
        });
        let mut versions: Vec<Version> = Vec::new();
        for lowered in resources {
            let at = match versions.iter().position(|version| version.name == lowered.version) {
                Some(at) => at,
                None => {
                    versions.push(Version {
                        code_name: names::upper_camel_case(&lowered.version),
                        name: lowered.version,
                        resources: Vec::new(),
                    });
                    versions.len() - 1
                }
            };
            versions[at].resources.push(lowered.resource);
        }
        versions.sort_by(|a, b| names::compare_versions(&a.name, &b.name));
        for version in &mut versions {
            version.resources.sort_by(|a, b| (&a.kind, &a.span).cmp(&(&b.kind, &b.span)));
        }
        Group {
            informer_code_name: informer.unwrap_or_else(|| code_name.clone()),
            module: names::module_name(&code_name),
            code_name,
            name,
            versions,
        }
    }

    /// The value that all of them have; a difference gets a diagnostic.
    fn agreed<'n>(
        &mut self,
        key: &str,
        group: &str,
        values: impl Iterator<Item = &'n Name>,
    ) -> Option<String> {
        let mut first: Option<&Name> = None;
        for value in values {
            match first {
                None => first = Some(value),
                Some(known) if known.text != value.text => self.diagnostics.push(
                    Diagnostic::error(
                        Code::GROUP_FACTS,
                        value.loc,
                        format!(
                            "`{key}` of the group {group} is `{}` here and `{}` elsewhere",
                            value.text, known.text
                        ),
                    )
                    .secondary(known.loc, "the other value")
                    .help("say it once, or the same everywhere"),
                ),
                Some(_) => {}
            }
        }
        first.map(|name| name.text.clone())
    }
}

/// Gives groups with the same name in code their full names, if no attribute can: kube-rs's types have none.
fn tell_apart(groups: &mut [Group]) {
    let is_kube = |group: &Group| {
        let mut kinds = group.versions.iter().flat_map(|version| &version.resources);
        kinds.all(|kind| kind.crd.style == CrdStyle::Kube)
    };
    let modules: Vec<String> = groups.iter().map(|group| group.module.clone()).collect();
    for group in groups.iter_mut().filter(|group| is_kube(group)) {
        if modules.iter().filter(|module| **module == group.module).count() > 1 {
            let code_name = names::upper_camel_case(&group.name);
            group.module = names::module_name(&code_name);
            group.informer_code_name.clone_from(&code_name);
            group.code_name = code_name;
        }
    }
}

/// Whether a version is stored. kube stores every version without an explicit setting, but a definition
/// stores only one. `stored` has the versions that the program stores, by kind.
fn is_stored(resource: &CustomResource, all: &[&CustomResource], stored: &[(String, String)]) -> bool {
    if resource.storage.is_some() {
        return resource.storage == Some(true);
    }
    let name = |resource: &CustomResource| {
        (resource.facts.group.as_ref().map(|group| group.text.clone()), resource.facts.kind.text.clone())
    };
    let mut versions = all.iter().filter(|other| name(other) == name(resource));
    let has = |resource: &CustomResource, version: &str| {
        resource.facts.version.as_ref().is_some_and(|own| own.text == version)
    };
    // A call may merge a kind of the same name in another group.
    let exists = |version: &String| versions.clone().any(|other| has(other, version));
    let said = stored.iter().filter(|(kind, version)| *kind == resource.facts.kind.text && exists(version));
    let mut said = said.map(|(_, version)| version);
    if let Some(version) = said.next().filter(|first| said.all(|other| other == *first)) {
        return has(resource, version);
    }
    versions.all(|other| std::ptr::eq(*other, resource) || other.storage == Some(false))
}

/// The presence that attributes on the root's `metadata` field require.
fn metadata_presence(item: &TypeItem) -> Option<bool> {
    match &item.kind {
        crate::syntax::TypeKind::Struct(fields) => {
            fields.iter().find(|field| field.name.text == METADATA).and_then(|field| field.facts.presence)
        }
        _ => None,
    }
}

fn texts(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| name.text.clone()).collect()
}
