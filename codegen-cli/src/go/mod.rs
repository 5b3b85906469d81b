//! Go packages as inputs: a front end beside the one for Rust.
//!
//! `packages` finds and parses files, `resolve` resolves names, and `translate` writes equivalent Rust source
//! with a map of positions. The later stages are those for Rust, so the meaning of markers, the building of
//! schemas and the refusals exist once.

mod arguments;
mod comments;
mod committed;
mod constants;
mod constraint;
mod file;
mod generator;
mod known;
mod markers;
mod module;
mod one_of;
mod packages;
mod parse;
mod release;
mod resolve;
mod resource;
mod scan;
mod survey;
mod syntax;
mod text;
mod translate;
mod tree;

use std::path::{Path, PathBuf};

use crate::diag::Diagnostic;
use crate::ir::{Beside, Older};
use crate::source::{FileId, Piece, SourceMap};
pub(crate) use generator::{Found, GeneratorOptions, of_project as generator_options};
use release::Release;
pub(crate) use survey::{Survey, SurveyedConstant, SurveyedMethod};

/// Options for reading Go packages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Whether to leave out fields whose names begin with a small letter.
    pub(crate) ignore_unexported: bool,
    /// The facts beside types to read.
    pub(crate) beside: Beside,
    /// Whether to read types.
    types: bool,
    /// The release of controller-gen whose output to reproduce.
    release: Release,
}

impl Options {
    /// Options of a run; the project decides the others.
    pub(crate) fn new(ignore_unexported: bool, beside: Beside, types: bool) -> Self {
        Self { ignore_unexported, beside, types, ..Self::default() }
    }
}

/// Rust source for a Go file.
#[derive(Debug)]
pub(crate) struct Translated {
    /// The Go file.
    pub(crate) file: FileId,
    /// Its package, by its index in [`Translation::modules`].
    pub(crate) package: usize,
    /// The source.
    pub(crate) text: String,
    /// The map of positions to the Go file.
    pub(crate) pieces: Vec<Piece>,
    /// The names of types whose Go declarations have errors.
    pub(crate) broken: Vec<String>,
}

/// Rust source for Go packages.
#[derive(Debug, Default)]
pub(crate) struct Translation {
    /// Names of the packages.
    pub(crate) modules: Vec<String>,
    /// The files with declarations or markers.
    pub(crate) texts: Vec<Translated>,
    /// Whether there are kinds, which the run does not need.
    pub(crate) has_unread_kinds: bool,
    /// The differences of the project's release of controller-gen.
    pub(crate) older: Older,
    /// The packages that were read.
    packages: packages::Packages,
    /// The diagnostics.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Whether an input is a Go package or module rather than a crate.
pub(crate) fn is_input(path: &Path) -> bool {
    let text = path.to_string_lossy();
    if text.ends_with("...") {
        return true;
    }
    !path.join("Cargo.toml").exists()
        && path.is_dir()
        && (path.join("go.mod").is_file() || packages::has_go(path))
}

/// Whether a path by itself names Go input: a pattern, a module, or the folder of a package.
pub(crate) fn is_named(path: &Path) -> bool {
    path.to_string_lossy().ends_with("...") || path.join("go.mod").is_file() || packages::is_package(path)
}

/// Reads Go packages and translates them to Rust source.
pub(crate) fn translate(inputs: &[PathBuf], sources: &mut SourceMap, options: Options) -> Translation {
    let options = Options { release: Release::of_project(inputs), ..options };
    let mut packages = packages::Packages::new(options.release);
    let mut diagnostics = Vec::new();
    for input in inputs {
        packages.input(input, sources, &mut diagnostics);
    }
    let mut translation = translate::translate(packages, sources, options);
    translation.older = options.release.older();
    translation.diagnostics.splice(0..0, diagnostics);
    translation
}

/// The facts beside schemas of Go packages and the packages of their kinds' types.
pub(crate) fn survey(inputs: &[PathBuf], options: Options) -> Vec<Survey> {
    let mut sources = SourceMap::default();
    let translation = translate(inputs, &mut sources, options);
    survey::survey(&translation.packages, &sources)
}

/// The path in k8s-openapi of a type of Kubernetes.
pub(crate) fn kubernetes_type(package: &str, name: &str) -> Option<String> {
    known::kubernetes(package, name)
}
