//! Loads the definitions that `generate` would write for a crate.

use std::path::{Path, PathBuf};

use super::{LoadError, Loaded, Origin};
use kubesmith_apiextensions::structural::Step;

use crate::config::{self, FILE_NAME, Generator, Overrides, Settings};
use crate::diff::Change;
use crate::import::Input;
use crate::ir::Ir;
use crate::output::Kind;
use crate::pipeline::{self, Generated};
use crate::source::{Loc, SourceMap};
use crate::validate;

/// The source of generated definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A configuration.
    Config(PathBuf),
    /// The folder of a crate, or of Go packages.
    Crate(PathBuf),
}

impl Source {
    /// The source at a path, if there is one.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let is_file = |name: &str| path.join(name).is_file();
        let is_named = |name: &str| path.file_name().is_some_and(|found| found == name) && path.is_file();
        if is_named(FILE_NAME) {
            return Some(Source::Config(path.to_path_buf()));
        }
        if is_named("Cargo.toml") {
            return Some(Source::Crate(path.parent().unwrap_or(Path::new("")).to_path_buf()));
        }
        if is_file(FILE_NAME) {
            return Some(Source::Config(path.join(FILE_NAME)));
        }
        let is_input = is_file("Cargo.toml") || crate::load::is_go_source(path);
        is_input.then(|| Source::Crate(path.to_path_buf()))
    }
}

/// Generates, and reads the output.
pub(super) fn load(source: &Source) -> Result<Loaded, LoadError> {
    let mut out = Loaded::default();
    for settings in settings(source)? {
        let generated = pipeline::generate(&settings);
        if !crate::diag::has_errors(&generated.diagnostics) {
            for (name, definition) in Loaded::of(inputs(&generated)).definitions {
                out.origins.insert(name.clone(), Origin::Source(out.runs.len()));
                out.definitions.insert(name, definition);
            }
        }
        append(&mut out, generated);
    }
    Ok(out)
}

fn settings(source: &Source) -> Result<Vec<Settings>, LoadError> {
    let only = vec![Generator::Crd];
    let overrides = Overrides { only, ..Overrides::default() };
    // Nothing is written to this folder.
    let somewhere = Some(PathBuf::from("crds"));
    Ok(match source {
        Source::Config(file) => match config::settings(Some(file), overrides.clone()) {
            Ok(settings) => settings,
            Err(_) => config::settings(Some(file), Overrides { crd_output: somewhere, ..overrides })?,
        },
        Source::Crate(folder) => {
            let input = vec![folder.clone()];
            config::settings(None, Overrides { input, crd_output: somewhere, ..overrides })?
        }
    })
}

fn inputs(generated: &Generated) -> Vec<Input> {
    let targets = generated.targets.iter().filter(|target| target.kind == Kind::Crd);
    let files = targets.flat_map(|target| target.tree.iter());
    files.map(|(path, text)| Input { name: path.to_owned(), text: text.to_owned() }).collect()
}

/// The location of the field or type of a change.
pub(super) fn place(ir: &Ir, sources: &SourceMap, change: &Change) -> Option<Loc> {
    let mut found = ir.groups.iter().flat_map(|group| {
        let versions =
            group.versions.iter().flat_map(|version| version.resources.iter().map(move |r| (version, r)));
        versions.filter(|(_, resource)| format!("{}.{}", resource.plural, group.name) == change.crd)
    });
    let of_version = |version: &str| change.version.as_ref().is_none_or(|wanted| wanted == version);
    let first = found.clone().next();
    let (_, resource) = found.find(|(version, _)| of_version(version.name.as_str())).or(first)?;
    sources.loc(validate::definition(ir, resource, &steps(change)))
}

/// The path of a change from the root of its version's schema.
fn steps(change: &Change) -> Vec<Step> {
    let mut out = Vec::new();
    let mut keys = change.steps.iter().skip_while(|key| *key != "openAPIV3Schema").skip(1);
    while let Some(key) = keys.next() {
        match (key.as_str(), keys.clone().next()) {
            ("properties", Some(name)) => {
                out.push(Step::Property(name.clone()));
                keys.next();
            }
            ("items", _) => out.push(Step::Items),
            ("additionalProperties", _) => out.push(Step::Values),
            _ => break,
        }
    }
    out
}

/// Appends the files and diagnostics of a run.
fn append(out: &mut Loaded, generated: Generated) {
    let count = u32::try_from(out.sources.len()).unwrap_or(u32::MAX);
    for file in generated.sources.into_files() {
        out.sources.add(file);
    }
    let errors = generated
        .diagnostics
        .into_iter()
        .filter(|found| found.severity == kubesmith_core::diag::Severity::Error);
    out.diagnostics.extend(errors.map(|mut found| {
        let places = found.primary.iter_mut().chain(found.secondary.iter_mut().map(|(loc, _)| loc));
        places.for_each(|loc| loc.file.0 = loc.file.0.saturating_add(count));
        found
    }));
    out.runs.push(generated.ir);
}
