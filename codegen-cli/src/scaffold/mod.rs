//! Projects and what is added to them: `kubesmith init`, `create api`, `create webhook`.
//!
//! What a project has been given stands in its file `PROJECT`, in kubebuilder's words. Files that are there are never
//! changed but at the comments `+kubesmith:scaffold`, where lines are added; running a command again adds nothing.

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
use std::path::PathBuf;

pub use api::{CreateApi, create_api};
pub(crate) use files::{runtime_in, usual_dependencies};
pub use init::{Init, License, init};
pub use project::FILE_NAME;
pub use webhook::{CreateWebhook, create_webhook};

/// The beginning of the description of the field that `create api` gives a spec as an example.
const EXAMPLE: &str = "An example: replace it by what";

/// Whether every version in the text of a CRD has the example field that `create api` made.
pub(crate) fn is_untouched(crd: &str) -> bool {
    let versions = crd.matches("openAPIV3Schema:").count();
    versions > 0 && crd.matches(EXAMPLE).count() >= versions
}

use crate::diag::Diagnostic;
use crate::source::SourceMap;
use crate::write::OutputError;

/// The result of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were written, in order.
    pub written: Vec<PathBuf>,
    /// Files that got lines.
    pub changed: Vec<PathBuf>,
    /// Files that were there already and stayed as they were.
    pub kept: Vec<PathBuf>,
    /// How many generated files were written.
    pub generated: usize,
    /// Notes for the user.
    pub note: Option<String>,
}

/// Why a command did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// A value makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The folder has no project.
    #[error("{} is not there: run `kubesmith init` first, or go to the project's folder", .0.display())]
    NoProject(PathBuf),
    /// The folder has a project.
    #[error("{} is there: the project is made; `kubesmith create api` adds to it", .0.display())]
    IsProject(PathBuf),
    /// The project's file cannot be understood.
    #[error("{}: {problem}", .path.display())]
    BadProject {
        /// The file.
        path: PathBuf,
        /// Its fault.
        problem: String,
    },
    /// A file lost the comment at which lines are added.
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
        /// Why.
        source: io::Error,
    },
    /// The kind is not in the project.
    #[error("{kind} of {api_version} is not in the project: run `kubesmith create api` for it first")]
    NoApi {
        /// The kind.
        kind: String,
        /// Group and version.
        api_version: String,
    },
    /// What the project has cannot be generated from. Nothing was written.
    #[error("nothing is done: `kubesmith generate` finds errors in the project, which come first")]
    Broken {
        /// The findings.
        diagnostics: Vec<Diagnostic>,
        /// Where.
        sources: Box<SourceMap>,
    },
    /// What was to be added cannot be generated from. Nothing was written.
    #[error("nothing is done: with what was to be added, `kubesmith generate` finds errors")]
    Generate {
        /// The findings.
        diagnostics: Vec<Diagnostic>,
        /// Where.
        sources: Box<SourceMap>,
    },
    /// Files are where others are to be generated. Nothing was written.
    #[error("nothing is done: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    InTheWay(Vec<OutputError>),
    /// The files are there, but what is generated cannot be written.
    #[error("the files are written, but what is generated is not: {0}; then run `kubesmith generate`")]
    Output(OutputError),
}
