//! Imports existing CustomResourceDefinitions as Rust types.
//!
//! [`read`](reader) parses YAML, [`typing`] makes types from schemas, [`writer`] writes the crate. The
//! importer generates from the crate at once and compares: it never returns a crate that gives other
//! definitions.

mod attributes;
mod facts;
pub(crate) mod files;
#[cfg(feature = "go")]
mod go;
mod keys;
mod model;
mod naming;
mod position;
mod reader;
mod resource;
mod shapes;
mod strict;
mod typing;
mod verify;
mod writer;

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::{Code, Severity};

use crate::diag::Diagnostic;
use crate::source::{SourceFile, SourceMap};
use model::Module;
use naming::TypeNames;
use reader::Found;
use typing::Typing;

#[cfg(feature = "go")]
pub use go::{GoOptions, import_go};
pub use kubesmith_apiextensions::diff::canonical;
pub(crate) use position::Lines;
pub(crate) use reader::{Crd, Place, Purpose, Sites};
pub(crate) use writer::is_module;

/// A file with definitions.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name as the user would write it; `-` for standard input.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The files of the crate, by their paths; empty when nothing could be imported.
    pub files: BTreeMap<String, String>,
    /// The number of definitions in them.
    pub definitions: usize,
    /// The number of skipped objects of other kinds.
    pub skipped: usize,
    /// The inputs.
    pub sources: SourceMap,
    /// The diagnostics, limited in number per file. Definitions with errors are left out of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of further errors.
    pub untold: usize,
}

/// Makes the crate `package` from the definitions in the inputs.
pub fn import(inputs: Vec<Input>, package: &str) -> Imported {
    let Definitions { crds, skipped, sources, mut diagnostics } = all(inputs, Purpose::Import);
    let made = verify::settled(crds, package, &sources, &mut diagnostics);
    crate::diag::sort(&mut diagnostics, &sources);
    let untold = shorten(&mut diagnostics);
    Imported { files: made.0, definitions: made.1, skipped, sources, diagnostics, untold }
}

impl Imported {
    /// Replaces the published runtime by `dependency`, the text behind the `=` in Cargo.toml.
    pub fn set_runtime(&mut self, dependency: &str) {
        if let Some(manifest) = self.files.get_mut("Cargo.toml") {
            *manifest = writer::with_runtime(manifest, dependency);
        }
    }
}

/// The most errors, and the most warnings, reported per file.
const MOST_OF_FILE: usize = 100;

/// Drops diagnostics beyond [`MOST_OF_FILE`], counts them in the last one that stays, and returns the
/// number of dropped errors.
fn shorten(diagnostics: &mut Vec<Diagnostic>) -> usize {
    let mut told: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics.drain(..) {
        let file = diagnostic.primary.map(|loc| loc.file);
        let (count, last) = told.entry((file, diagnostic.severity == Severity::Error)).or_default();
        *count += 1;
        if *count <= MOST_OF_FILE || file.is_none() {
            *last = kept.len();
            kept.push(diagnostic);
        }
    }
    let beyond = told.into_iter().filter(|((file, _), (count, _))| file.is_some() && *count > MOST_OF_FILE);
    let mut untold = 0;
    for ((_, is_error), (count, last)) in beyond {
        let more = count - MOST_OF_FILE;
        let noun = if is_error { "error" } else { "warning" };
        kept[last]
            .notes
            .push(format!("and {more} more {noun}{} of this file", if more == 1 { "" } else { "s" }));
        untold += if is_error { more } else { 0 };
    }
    *diagnostics = kept;
    untold
}

/// The definitions of the inputs.
pub(crate) struct Definitions {
    /// The definitions without errors, each once.
    pub(crate) crds: Vec<Crd>,
    /// The number of skipped objects of other kinds.
    pub(crate) skipped: usize,
    /// The inputs.
    pub(crate) sources: SourceMap,
    /// The diagnostics.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads the definitions of the inputs.
pub(crate) fn definitions(inputs: Vec<Input>, purpose: Purpose) -> Definitions {
    let mut found = all(inputs, purpose);
    shorten(&mut found.diagnostics);
    found
}

/// Reads them with all diagnostics.
fn all(inputs: Vec<Input>, purpose: Purpose) -> Definitions {
    let mut sources = SourceMap::default();
    let files: Vec<_> = inputs
        .into_iter()
        .map(|input| {
            let name = input.name.as_str().into();
            sources.add(SourceFile { path: input.name.into(), name, text: input.text.into() })
        })
        .collect();
    let mut found = Found { purpose, ..Found::default() };
    for file in files {
        found.read(&sources, file);
    }
    let (skipped, mut diagnostics) = (found.others, found.diagnostics);
    let crds = distinct(found.crds, &sources, &mut diagnostics);
    Definitions { crds, skipped, sources, diagnostics }
}

/// Keeps each definition once; identical copies in several files are allowed.
fn distinct(crds: Vec<Crd>, sources: &SourceMap, diagnostics: &mut Vec<Diagnostic>) -> Vec<Crd> {
    let mut seen: BTreeMap<[String; 2], usize> = BTreeMap::new();
    let mut out: Vec<Crd> = Vec::new();
    let mut sites = Sites::new(sources);
    for crd in crds {
        let group = crd.group().to_string();
        let names = ["kind", "plural"].map(|name| crd.text(&["spec", "names", name]));
        // A plural may be written like a kind.
        let keys = [("kind", &names[0]), ("plural", &names[1])]
            .map(|(what, name)| [format!("{group} {what}"), name.clone()]);
        match keys.iter().find_map(|key| seen.get(key)) {
            Some(first) if out[*first].object == crd.object => {}
            Some(first) => {
                let loc = crd.place.loc(&mut sites, &[]);
                let message = format!("{} of {group} is defined a second time", names[0]);
                diagnostics.push(
                    Diagnostic::error(Code::DEFINED_TWICE, loc, message)
                        .secondary(out[*first].place.loc(&mut sites, &[]), "the first")
                        .help("name one of them"),
                );
            }
            None => {
                seen.extend(keys.map(|key| (key, out.len())));
                out.push(crd);
            }
        }
    }
    out
}

/// The input of naming and typing.
#[derive(Clone, Copy)]
struct Context<'a> {
    crds: &'a [Crd],
    /// The short names of their groups in code.
    groups: &'a BTreeMap<&'a str, String>,
}

/// The modules of the definitions, ordered by group and version.
fn modules(crds: &[Crd]) -> Vec<Module> {
    let groups: BTreeSet<&str> = crds.iter().map(Crd::group).collect();
    let groups = naming::groups(&groups);
    let context = Context { crds, groups: &groups };
    let versions: BTreeSet<(&str, &str)> =
        crds.iter().flat_map(|crd| crd.versions().map(|(version, _)| (crd.group(), version))).collect();
    let module = |(group, version): (&str, &str)| {
        let (first, names) = module_of(context, group, version, &BTreeSet::new());
        let imported = first.imported();
        // The first pass finds the imported names.
        if imported.iter().any(|name| names.has(name)) {
            return module_of(context, group, version, &imported).0;
        }
        first
    };
    versions.into_iter().map(module).collect()
}

/// The types of a version of a group, and their names.
fn module_of(
    context: Context<'_>,
    group: &str,
    version: &str,
    imported: &BTreeSet<String>,
) -> (Module, TypeNames) {
    let mut typing = Typing::new(group, version, imported);
    let here = context.crds.iter().enumerate().filter(|(_, crd)| crd.group() == group);
    let found: Vec<_> = here
        .filter_map(|(number, crd)| {
            let (at, (_, schema)) = crd.versions().enumerate().find(|(_, (name, _))| *name == version)?;
            Some((number, crd, at, schema))
        })
        .collect();
    let kind = |crd: &Crd| crd.text(&["spec", "names", "kind"]);
    let names: Vec<String> = found.iter().map(|(_, crd, ..)| typing.names.root(&kind(crd))).collect();
    let code = &context.groups[group];
    for ((number, crd, at, schema), name) in found.into_iter().zip(names) {
        let version = &crd.object["spec"]["versions"][at];
        let attributes = resource::attributes(&crd.object, version, schema, (&name, code));
        typing.module.roots.insert(name.clone(), number);
        typing.choices = crd.has_choices;
        typing.root(&name, &kind(crd), schema, attributes);
    }
    typing.name_shared();
    (typing.module, typing.names)
}

/// The crate made from these definitions.
struct ImportedCrate {
    files: BTreeMap<String, String>,
    /// The numbers of the definitions, by the paths of their files and the names of their root types.
    roots: BTreeMap<String, BTreeMap<String, usize>>,
}

fn crate_of(crds: &[Crd], package: &str) -> ImportedCrate {
    let modules = modules(crds);
    let refuse_unknown_fields = crds.iter().any(|crd| crd.says_preserve);
    let options = writer::Options { refuse_unknown_fields, ..writer::Options::default() };
    let files = writer::files(package, &modules, options);
    let roots = writer::paths(&modules).into_iter().zip(modules).map(|(path, module)| (path, module.roots));
    ImportedCrate { files, roots: roots.collect() }
}

impl Crd {
    /// Its group.
    fn group(&self) -> &str {
        self.object["spec"]["group"].as_str().unwrap_or_default()
    }

    /// A text in the definition.
    fn text(&self, path: &[&str]) -> String {
        let value = path.iter().fold(&self.object, |at, key| &at[*key]);
        value.as_str().unwrap_or_default().to_string()
    }

    /// Names and schemas of its versions.
    fn versions(&self) -> impl Iterator<Item = (&str, &crate::schema::Schema)> {
        let names = self.object["spec"]["versions"].as_array().into_iter().flatten();
        names.map(|version| version["name"].as_str().unwrap_or_default()).zip(&self.schemas)
    }
}
