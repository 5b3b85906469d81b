//! Reads a revision with the program `git`, without changing the work tree or the index.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kubesmith_core::diag::Code;
use tempfile::TempDir;

use super::source::{self, Source};
use super::tree::{Entry, Link, Tree, contents};
use super::{LoadError, Loaded};
use crate::config::FILE_NAME;
use crate::diag::Diagnostic;
use crate::import::Input;

/// The reason why a revision cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is missing.
    #[error("cannot run git: {0}")]
    NotThere(#[from] io::Error),
    /// The current folder is in no repository.
    #[error("{message}")]
    NoRepository {
        /// The message of git.
        message: String,
    },
    /// The revision does not exist.
    #[error("git does not know the revision `{revision}`")]
    NoRevision {
        /// The request.
        revision: String,
    },
    /// A revision without a path is given where a path is expected.
    #[error("the file or folder {revision} does not exist")]
    NoPrefix {
        /// The revision.
        revision: String,
    },
    /// Neither the operand nor the other side has a path.
    #[error("git:{revision} has no path, and the other side is not a path")]
    NoPath {
        /// The revision.
        revision: String,
    },
    /// The path leaves the repository.
    #[error("{path} is outside of the repository")]
    Outside {
        /// The path.
        path: String,
    },
    /// The revision lacks the file or folder, or it has no definitions.
    #[error("{revision} has no {}, or no YAML or JSON file there", place(path))]
    NotInRevision {
        /// The revision.
        revision: String,
        /// The path.
        path: String,
    },
    /// The revision lacks the folder.
    #[error("{revision} has no folder {path:?}")]
    NoFolder {
        /// The revision.
        revision: String,
        /// The path.
        path: String,
    },
    /// Git fails for another reason.
    #[error("git {action}: {message}")]
    Failed {
        /// The command of git.
        action: String,
        /// The message of git.
        message: String,
    },
}

/// A path in a sentence.
fn place(path: &str) -> &str {
    if path.is_empty() { "file at its top" } else { path }
}

impl GitError {
    pub(super) fn help(&self) -> String {
        let text = match self {
            GitError::NoPrefix { revision } => return format!("for the revision write git:{revision}"),
            GitError::NotThere(_) => "revisions are read with the program git: install it",
            GitError::NoRepository { .. } => "run the command within the repository",
            GitError::NoRevision { .. } => {
                "name a branch, tag or commit; in a shallow clone fetch it first: git fetch origin main"
            }
            GitError::NoPath { .. } => "write git:REV:PATH",
            GitError::Outside { .. } | GitError::NotInRevision { .. } | GitError::NoFolder { .. } => {
                "paths are those from the top of the repository; write ./PATH for one from the current folder"
            }
            GitError::Failed { .. } => "see what git says",
        };
        text.to_owned()
    }
}

/// A copy of a revision for generating, deleted on drop.
#[derive(Debug)]
pub(crate) struct Copied {
    revision: String,
    folder: TempDir,
}

impl Copied {
    /// Copies the tree into a temporary folder, by a temporary index.
    fn of(revision: &str, tree: &Tree) -> Result<Self, GitError> {
        let folder = tempfile::Builder::new().prefix("kubesmith-").tempdir()?;
        let copied = Copied { revision: revision.to_owned(), folder };
        let root = copied.root();
        let index = root.join(".kubesmith-index");
        let mut option = std::ffi::OsString::from("--prefix=");
        option.push(&root);
        option.push("/");
        run(git().env("GIT_INDEX_FILE", &index).args(["read-tree", tree.hash()]))?;
        let mut checkout = git();
        checkout.env("GIT_INDEX_FILE", &index).args(["checkout-index", "--all", "--force"]);
        // Run from the top: in a subfolder, git copies only that folder's files.
        let top = run(git().args(["rev-parse", "--show-toplevel"]))?;
        let top = PathBuf::from(String::from_utf8_lossy(&top).trim_end_matches('\n').to_owned());
        run(checkout.current_dir(top).arg(option))?;
        Ok(copied)
    }

    /// Copies a revision, and returns the place of a folder or of a pattern of Go packages in the copy.
    #[cfg(feature = "go")]
    pub(crate) fn with_path(revision: &str, path: Option<&str>) -> Result<(Self, PathBuf), GitError> {
        let path = inside(path.unwrap_or_default(), &prefix()?)?;
        let copied = Self::of(revision, &Tree::of(revision)?)?;
        if !copied.root().join(folder(&path)).is_dir() {
            return Err(GitError::NoFolder { revision: revision.to_owned(), path });
        }
        let place = copied.root().join(path);
        Ok((copied, place))
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap_or_else(|_| self.folder.path().to_path_buf())
    }

    /// A text with file names in the notation of `git show`.
    pub(crate) fn name(&self, text: &str) -> String {
        text.replace(&format!("{}/", crate::paths::display(&self.root())), &format!("{}:", self.revision))
    }
}

/// Reads a path of a revision; without one, that of the other side.
pub(super) fn load(revision: &str, path: Option<&str>, other: Option<&Path>) -> Result<Loaded, LoadError> {
    let prefix = prefix()?;
    let path = match (path, other) {
        (Some(path), _) => inside(path, &prefix)?,
        (None, Some(other)) => beside(other, &prefix)?,
        (None, None) => return Err(GitError::NoPath { revision: revision.to_owned() }.into()),
    };
    let tree = Tree::of(revision)?;
    let found = tree.list(folder(&path))?;
    if let Some(source) = source_in(&found.files, &path) {
        return from_source(revision, &tree, &source);
    }
    let is_wanted = |file: &&Entry| file.path == path || is_yaml(&file.path);
    let wanted: Vec<&Entry> = found.files.iter().filter(is_wanted).collect();
    let mut links = found.links;
    links.retain(|link| link.path == path || is_yaml(&link.path) || link.leads_outside);
    if wanted.is_empty() && links.is_empty() {
        return Err(GitError::NotInRevision { revision: revision.to_owned(), path }.into());
    }
    let texts = contents(&wanted)?;
    let name = |path: &str| format!("{revision}:{path}");
    let inputs = wanted.iter().zip(texts).map(|(file, text)| Input { name: name(&file.path), text });
    let mut loaded = Loaded::of(inputs.collect());
    let broken = links.iter().map(|link| unfollowed(link, &name(&link.path), link.path == path));
    loaded.diagnostics.extend(broken);
    Ok(loaded)
}

/// The folder of a pattern of Go packages, `api/...`; other paths unchanged.
fn folder(path: &str) -> &str {
    path.strip_suffix("...").map_or(path, |folder| folder.trim_end_matches('/'))
}

fn is_yaml(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
}

/// The diagnostic for a link that was not followed; only a warning if it may be a folder with definitions.
fn unfollowed(link: &Link, name: &str, is_named: bool) -> Diagnostic {
    let message = format!("cannot read {name}: a link to {}, which is not in the revision", link.target);
    let found = match is_named || is_yaml(name) {
        true => Diagnostic::error(Code::UNREADABLE_FILE, None, message),
        false => Diagnostic::warning(Code::UNREADABLE_FILE, None, message),
    };
    found.help("links within the repository are followed")
}

/// Whether two paths are the same place of the repository: one in the notation `REV:PATH`, and one on disk.
pub(super) fn is_same_place(path: &str, other: &Path) -> bool {
    let same = || Ok::<_, GitError>(inside(path, &prefix()?)? == beside(other, &prefix()?)?);
    same().unwrap_or(false)
}

/// Whether git knows a revision of this name.
pub(super) fn is_revision(name: &str) -> bool {
    Tree::of(name).is_ok()
}

pub(super) fn git() -> Command {
    let mut command = Command::new("git");
    // git's messages are shown, not parsed.
    command.env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    command
}

pub(super) fn error_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().next().unwrap_or("it failed without a message");
    line.trim_start_matches("fatal: ").to_owned()
}

pub(super) fn run(command: &mut Command) -> Result<Vec<u8>, GitError> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let action = command.get_args().next().unwrap_or_default().to_string_lossy().into_owned();
    Err(GitError::Failed { action, message: error_text(&output) })
}

/// The current folder relative to the top of the repository: empty, or with a trailing `/`.
fn prefix() -> Result<String, GitError> {
    let output = git().args(["rev-parse", "--show-prefix"]).output()?;
    if !output.status.success() {
        return Err(GitError::NoRepository { message: error_text(&output) });
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

/// A path in git's notation: from the top, or with `./` or `../` from the current folder.
fn inside(path: &str, prefix: &str) -> Result<String, GitError> {
    let is_relative = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
    let full = if is_relative { format!("{prefix}{path}") } else { path.to_owned() };
    let mut parts: Vec<String> = Vec::new();
    for component in Path::new(&full).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::ParentDir if parts.pop().is_some() => {}
            _ => return Err(GitError::Outside { path: path.to_owned() }),
        }
    }
    Ok(parts.join("/"))
}

/// The path in the repository of a file or folder on disk.
fn beside(path: &Path, prefix: &str) -> Result<String, GitError> {
    if path.is_relative() && !path.exists() {
        // Errors about the other side are more helpful.
        return inside(&format!("./{}", crate::paths::display(path)), prefix);
    }
    let outside = || GitError::Outside { path: crate::paths::display(path) };
    let top = run(git().args(["rev-parse", "--show-toplevel"]))?;
    let top =
        fs::canonicalize(String::from_utf8_lossy(&top).trim_end_matches('\n')).map_err(|_| outside())?;
    let full = fs::canonicalize(path).map_err(|_| outside())?;
    let below = full.strip_prefix(&top).map_err(|_| outside())?;
    Ok(crate::paths::display(below))
}

/// The path of the named manifest or configuration, or of the one in the named folder; for Go packages, that
/// of their folder or pattern.
fn source_in(files: &[Entry], path: &str) -> Option<String> {
    let has = |wanted: &str| files.iter().any(|file| file.path == wanted);
    let is_source = |name: &str| matches!(name.rsplit('/').next(), Some(FILE_NAME | "Cargo.toml"));
    if has(path) {
        return is_source(path).then(|| path.to_owned());
    }
    let slash = if path.is_empty() { "" } else { "/" };
    let mut names = [FILE_NAME, "Cargo.toml"].into_iter().map(|name| format!("{path}{slash}{name}"));
    let is_inside = |file: &Entry| {
        let name = file.path.strip_prefix(path).and_then(|rest| rest.strip_prefix(slash));
        name.is_some_and(|name| !name.contains('/') && (name == "go.mod" || name.ends_with(".go")))
    };
    let is_go = || path.ends_with("...") || files.iter().any(is_inside);
    names.find(|wanted| has(wanted)).or_else(|| is_go().then(|| path.to_owned()))
}

/// Copies the tree and generates from it.
fn from_source(revision: &str, tree: &Tree, path: &str) -> Result<Loaded, LoadError> {
    let copied = Copied::of(revision, tree)?;
    if path.ends_with("...") && !copied.root().join(folder(path)).is_dir() {
        return Err(GitError::NoFolder { revision: revision.to_owned(), path: path.to_owned() }.into());
    }
    let source = Source::at(&copied.root().join(path))
        .ok_or_else(|| GitError::NotInRevision { revision: revision.to_owned(), path: path.to_owned() })?;
    let mut loaded = source::load(&source)?;
    loaded.copied = Some(copied);
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_resolved_as_git_does() {
        let inside = |path| inside(path, "sub/folder/").ok();
        assert_eq!(inside("config/crd").as_deref(), Some("config/crd"));
        assert_eq!(inside("./crd/").as_deref(), Some("sub/folder/crd"));
        assert_eq!(inside("../crd").as_deref(), Some("sub/crd"));
        assert_eq!(inside(".").as_deref(), Some("sub/folder"));
        assert_eq!(inside("../../..").as_deref(), None);
        assert_eq!(inside("/etc").as_deref(), None);
    }
}
