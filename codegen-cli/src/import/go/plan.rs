//! Maps Go types to Rust types: a module and a name, or a type of k8s-openapi.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::Code;

use super::super::naming::{self, TypeNames};
use crate::diag::Diagnostic;
use crate::go::{self, Survey};
use crate::ir::{Element, Field, Group, Ir, Resource, Shape, TypeDef, TypeRef, Version};
use crate::known;
use crate::schema::Schemas;
use crate::source::SourceMap;

/// The Rust module and name of each type.
pub(super) struct Plan<'a> {
    pub(super) ir: &'a Ir,
    pub(super) schemas: &'a Schemas,
    pub(super) surveys: &'a [Survey],
    /// The modules of the crate.
    pub(super) modules: Vec<PlannedModule<'a>>,
    /// The Rust type for each type of the arena; `None`: unused.
    pub(super) types: Vec<Option<Planned>>,
    /// The resources, by the indexes of their root types.
    pub(super) resources: BTreeMap<usize, (&'a Group, &'a Version, &'a Resource)>,
}

/// A module: a Go package.
pub(super) struct PlannedModule<'a> {
    /// Its path in the crate.
    pub(super) path: Vec<String>,
    /// The survey of its package: everything but schemas.
    pub(super) survey: &'a Survey,
    /// Group and version; `None`: a package without kinds.
    pub(super) version: Option<(&'a str, &'a str)>,
    /// Its types, by their indexes, in source order.
    pub(super) types: Vec<usize>,
}

/// The treatment of a type.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    /// A type of the crate: its module, its place there and its name.
    Own { module: usize, at: usize, name: String },
    /// A type of k8s-openapi with the same schema.
    Known(&'static str),
}

impl<'a> Plan<'a> {
    /// Plans a crate, and reports names that change.
    pub(super) fn new(
        ir: &'a Ir,
        schemas: &'a Schemas,
        surveys: &'a [Survey],
        sources: &SourceMap,
    ) -> (Self, Vec<Diagnostic>) {
        let mut plan =
            Plan { ir, schemas, surveys, modules: Vec::new(), types: Vec::new(), resources: BTreeMap::new() };
        for group in &ir.groups {
            for version in &group.versions {
                let own = version.resources.iter();
                plan.resources.extend(own.map(|it| (it.root.0 as usize, (group, version, it))));
            }
        }
        plan.types = vec![None; ir.types.len()];
        let mut by_package: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in plan.needed() {
            match plan.kubernetes(at) {
                Some(path) => plan.types[at] = Some(Planned::Known(path)),
                None => {
                    by_package.entry(plan.package(at).unwrap_or_default()).or_default().push(at);
                }
            }
        }
        let diagnostics = plan.place(by_package, sources);
        (plan, diagnostics)
    }

    /// The path of a type of the crate.
    pub(super) fn path(&self, module: usize, name: &str) -> String {
        format!("crate::{}::{name}", self.modules[module].path.join("::"))
    }

    /// The index of the package of a type.
    fn package(&self, at: usize) -> Option<usize> {
        let module = self.ir.types[at].path.split("::").nth(1)?;
        self.surveys.iter().position(|survey| survey.module == module)
    }

    /// The type of k8s-openapi that has the schema of one of Kubernetes' types.
    fn kubernetes(&self, at: usize) -> Option<&'static str> {
        let survey = &self.surveys[self.package(at)?];
        let path = go::kubernetes_type(&survey.path, go_name(&self.ir.types[at]))?;
        let same = known::schema(&path).as_ref() == self.schemas.of_type(at);
        known::paths().find(|known| *known == path).filter(|_| same)
    }

    /// The types that the roots use, without those that only types of k8s-openapi use.
    fn needed(&self) -> BTreeSet<usize> {
        let mut seen: BTreeSet<usize> = self.resources.keys().copied().collect();
        let mut open: Vec<usize> = seen.iter().copied().collect();
        while let Some(at) = open.pop() {
            if self.kubernetes(at).is_some() {
                continue;
            }
            let mut found = Vec::new();
            match &self.ir.types[at].shape {
                Shape::Struct(fields) => fields.iter().for_each(|field: &Field| named(&field.ty, &mut found)),
                Shape::Newtype(element) => {
                    let Element { ty, .. } = &**element;
                    named(ty, &mut found);
                }
                _ => {}
            }
            open.extend(found.into_iter().filter(|at| seen.insert(*at)));
        }
        seen
    }

    /// Gives each package a module, and each type a name.
    fn place(&mut self, by_package: BTreeMap<usize, Vec<usize>>, sources: &SourceMap) -> Vec<Diagnostic> {
        let groups: BTreeSet<&str> = self.ir.groups.iter().map(|group| group.name.as_str()).collect();
        let is_single = groups.len() == 1;
        let folders = naming::groups(&groups);
        let mut taken: BTreeSet<Vec<String>> =
            folders.values().map(|folder| vec![naming::module(folder)]).collect();
        taken.extend([super::rights::MODULE, super::webhooks::MODULE].map(|name| vec![name.to_string()]));
        let mut diagnostics = Vec::new();
        for (package, mut types) in by_package {
            let Some(survey) = self.surveys.get(package) else { continue };
            types.sort_by_key(|at| {
                let span = &self.ir.types[*at].span;
                (span.file.clone(), span.start)
            });
            let version = types.iter().find_map(|at| self.resources.get(at));
            let version = version.map(|(group, version, _)| (group.name.as_str(), version.name.as_str()));
            let wanted = match version {
                Some((_, version)) if is_single => vec![naming::module(version)],
                Some((group, version)) => vec![naming::module(&folders[group]), naming::module(version)],
                None => vec![naming::module(&survey.module)],
            };
            let path = free(wanted, &naming::module(&survey.module), &mut taken);
            self.name(&types, &mut diagnostics, sources);
            self.modules.push(PlannedModule { path, survey, version, types });
        }
        diagnostics
    }

    /// Names the types of a module that is about to be added.
    fn name(&mut self, types: &[usize], diagnostics: &mut Vec<Diagnostic>, sources: &SourceMap) {
        let mut names = TypeNames::default();
        // Exported names first: other code uses them.
        let is_exported = |at: &usize| go_name(&self.ir.types[*at]).starts_with(char::is_uppercase);
        let (first, rest): (Vec<usize>, Vec<usize>) = types.iter().copied().partition(is_exported);
        for at in first.into_iter().chain(rest) {
            let definition = &self.ir.types[at];
            let own = go_name(definition);
            let name = match self.resources.contains_key(&at) {
                true => names.root(own),
                false => names.plain(own),
            };
            if name != own {
                let message = format!("`{own}` is named `{name}` in Rust");
                diagnostics.push(
                    Diagnostic::warning(Code::GO_RENAMED, sources.loc(&definition.span), message)
                        .help("rename the type in Go, or keep the name: no definition shows it"),
                );
            }
            let place = types.iter().position(|other| *other == at).unwrap_or_default();
            self.types[at] = Some(Planned::Own { module: self.modules.len(), at: place, name });
        }
    }
}

/// The name of a type in Go.
pub(super) fn go_name(definition: &TypeDef) -> &str {
    let name = definition.path.rsplit("::").next().unwrap_or(&definition.path);
    name.strip_prefix("r#").unwrap_or(name)
}

fn named(ty: &TypeRef, out: &mut Vec<usize>) {
    match ty {
        TypeRef::Named(id) => out.push(id.0 as usize),
        TypeRef::List(inner) | TypeRef::Array(inner, _) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => {
            named(inner, out);
        }
        TypeRef::Tuple(items) => items.iter().for_each(|item| named(item, out)),
        TypeRef::Known(_) | TypeRef::Unit | TypeRef::Opaque => {}
    }
}

/// Returns the path, or a free one if it is taken.
fn free(wanted: Vec<String>, package: &str, taken: &mut BTreeSet<Vec<String>>) -> Vec<String> {
    let numbered = (2..).map(|number| vec![format!("{package}_{number}")]);
    let mut all = [wanted.clone(), vec![package.to_string()]].into_iter().chain(numbered);
    let found = all.find(|path| !taken.contains(path)).unwrap_or(wanted);
    taken.insert(found.clone());
    found
}
