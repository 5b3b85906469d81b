//! Definitions that `generate` would write of a crate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{LoadError, Loaded, Origin};
use crate::config::{self, FILE_NAME, Generator, Overrides, Settings};
use crate::import::Input;
use crate::output::Kind;
use crate::pipeline::{self, Generated};
use crate::source::Loc;

/// What is generated from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A configuration.
    Config(PathBuf),
    /// The folder of a crate.
    Crate(PathBuf),
}

impl Source {
    /// The source that a path names, if it names one.
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
        is_file("Cargo.toml").then(|| Source::Crate(path.to_path_buf()))
    }
}

/// Generates, and reads what would be written.
pub(super) fn load(source: &Source) -> Result<Loaded, LoadError> {
    let mut out = Loaded::default();
    for settings in settings(source)? {
        let generated = pipeline::generate(&settings);
        let types = types(&generated);
        let own = match crate::diag::has_errors(&generated.diagnostics) {
            true => Loaded::default(),
            false => Loaded::of(inputs(&generated)),
        };
        for (name, definition) in own.definitions {
            let origin = types.get(&name).cloned().unwrap_or_default();
            out.origins.insert(name.clone(), Origin::Source(shifted(origin, &out)));
            out.definitions.insert(name, definition);
        }
        append(&mut out, generated);
    }
    Ok(out)
}

fn settings(source: &Source) -> Result<Vec<Settings>, LoadError> {
    let only = vec![Generator::Crd];
    let overrides = Overrides { only, ..Overrides::default() };
    // Nothing is written there.
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

/// Where the types of each definition's versions stand.
pub(super) fn types(generated: &Generated) -> BTreeMap<String, BTreeMap<String, Loc>> {
    let mut out: BTreeMap<String, BTreeMap<String, Loc>> = BTreeMap::new();
    for group in &generated.ir.groups {
        for version in &group.versions {
            for resource in &version.resources {
                let Some(loc) = generated.sources.loc(&resource.span) else { continue };
                let name = format!("{}.{}", resource.plural, group.name);
                out.entry(name).or_default().insert(version.name.to_string(), loc);
            }
        }
    }
    out
}

/// The places as they are when the files of another run stand behind those that there are.
fn shifted(mut types: BTreeMap<String, Loc>, before: &Loaded) -> BTreeMap<String, Loc> {
    let count = u32::try_from(before.sources.len()).unwrap_or(u32::MAX);
    types.values_mut().for_each(|loc| loc.file.0 = loc.file.0.saturating_add(count));
    types
}

/// Puts the files and mistakes of a run behind those that there are.
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
}
