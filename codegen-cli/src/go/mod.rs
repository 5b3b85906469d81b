//! Go packages as inputs: a front end beside the one for Rust.
//!
//! `packages` finds and parses files, `resolve` finds what names stand for, and `translate` writes Rust source that says the
//! same, with the places that its parts come from. The later stages are those of Rust. So the meaning of markers, the building of
//! schemas and the refusals exist once.

mod comments;
mod constraint;
mod known;
mod markers;
mod module;
mod packages;
mod parse;
mod resolve;
mod resource;
mod syntax;
mod text;
mod translate;

use std::path::{Path, PathBuf};

use crate::diag::Diagnostic;
use crate::source::{FileId, Piece, SourceMap};

/// How Go packages are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Leaves out fields whose names begin with a small letter.
    pub(crate) ignore_unexported: bool,
    /// Reads what packages say of roles and webhooks.
    pub(crate) manifests: bool,
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
    /// Where its parts come from.
    pub(crate) pieces: Vec<Piece>,
}

/// Rust source for Go packages.
#[derive(Debug, Default)]
pub(crate) struct Translation {
    /// Names of the packages.
    pub(crate) modules: Vec<String>,
    /// The files that have something to say.
    pub(crate) texts: Vec<Translated>,
    /// What was found on the way.
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

/// Reads Go packages, and writes Rust source for them.
pub(crate) fn translate(inputs: &[PathBuf], sources: &mut SourceMap, options: Options) -> Translation {
    let mut packages = packages::Packages::default();
    let mut diagnostics = Vec::new();
    for input in inputs {
        packages.input(input, sources, &mut diagnostics);
    }
    let mut translation = translate::translate(packages, sources, options);
    translation.diagnostics.splice(0..0, diagnostics);
    translation
}
