//! Makes projects and adds to them: `kubesmith init`, `create api`, `create webhook`.
//!
//! The file `PROJECT` records the parts of a project, in kubebuilder's format. Existing files only change at
//! the comments `+kubesmith:scaffold`, where lines are added; running a command again adds nothing.

mod api;
mod article;
mod change;
mod conversion;
mod files;
mod generated;
mod init;
mod lines;
mod modules;
mod project;
mod template;
mod version;
mod webhook;

use std::io;
use std::path::{Path, PathBuf};

pub use api::{CreateApi, create_api};
pub(crate) use files::{types_dependency, usual_dependencies};
pub use init::{Init, init};
pub use webhook::{CreateWebhook, create_webhook};

/// The start of the description of the example field in specs by `create api`.
const EXAMPLE: &str = "An example field: replace it with";

/// Whether every version in the text of a CRD has the example field from `create api`.
pub(crate) fn is_untouched(crd: &str) -> bool {
    let versions = crd.matches("openAPIV3Schema:").count();
    versions > 0 && crd.matches(EXAMPLE).count() >= versions
}

use crate::diag::Diagnostic;
use crate::paths;
use crate::source::SourceMap;
use crate::write::OutputError;

/// The result of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The written files, in order.
    pub written: Vec<PathBuf>,
    /// Existing files with added lines.
    pub changed: Vec<PathBuf>,
    /// Existing files that were left unchanged.
    pub kept: Vec<PathBuf>,
    /// The number of generated files written.
    pub generated: usize,
    /// Notes for the user.
    pub note: Option<String>,
    /// The next steps of the user.
    pub next: String,
}

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// A value is invalid.
    #[error("{0}")]
    Usage(String),
    /// The folder has no project.
    #[error("{} does not exist: {}", .0.display(), elsewhere(.0))]
    NoProject(PathBuf),
    /// The folder has a project.
    #[error("{} already exists: the project is initialized; use `kubesmith create api` to add to it", .0.display())]
    IsProject(PathBuf),
    /// The project's file cannot be parsed.
    #[error("{}: {problem}", .path.display())]
    BadProject {
        /// The file.
        path: PathBuf,
        /// The error in it.
        problem: String,
    },
    /// A file lost the comment for added lines.
    #[error("{} has no line `{marker}`: put it back where {what} belong, or add this by hand:\n\n{lines}", .path.display())]
    NoMarker {
        /// The file.
        path: PathBuf,
        /// The comment.
        marker: String,
        /// The text before it.
        what: &'static str,
        /// The addition.
        lines: String,
    },
    /// Reading or writing failed.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The project lacks the kind.
    #[error("{kind} of {api_version} is not in the project: run `kubesmith create api` for it first")]
    NoApi {
        /// The kind.
        kind: String,
        /// Group and version.
        api_version: String,
    },
    /// The existing project cannot be generated from. Nothing was written.
    #[error("nothing was changed: first correct the errors that `kubesmith generate` finds in the project")]
    Broken {
        /// The diagnostics.
        diagnostics: Vec<Diagnostic>,
        /// Their files.
        sources: Box<SourceMap>,
    },
    /// The additions cannot be generated from. Nothing was written.
    #[error("nothing was changed: `kubesmith generate` finds errors in the additions")]
    Generate {
        /// The diagnostics.
        diagnostics: Vec<Diagnostic>,
        /// Their files.
        sources: Box<SourceMap>,
    },
    /// Other files are in the place of generated ones. Nothing was written.
    #[error("nothing was changed: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    InTheWay(Vec<OutputError>),
    /// The files exist, but the generated output cannot be written.
    #[error(
        "the project's files were written, but the generated files were not: {0}; correct this, then run `kubesmith generate`"
    )]
    Output(OutputError),
}

/// Advice where a project's file is missing.
fn elsewhere(path: &Path) -> String {
    match paths::above(path) {
        Some(folder) => format!("the project is in {folder}, run the command there"),
        None => "run `kubesmith init` first, or go to the project's folder".to_owned(),
    }
}
