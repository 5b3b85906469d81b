//! Loads the definitions of a side: from files, the source of a crate, a revision of git, or a cluster.

mod git;
mod source;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kubesmith_core::diag::{Code, Severity};

use super::{Change, Unread};
use super::{Definition, Definitions};
use crate::cluster::{self, Access, ClusterError, Wanted};
use crate::diag::{self, Diagnostic};
use crate::import::{self, Crd, Input, Lines, Place, Purpose, Sites, files};
use crate::ir::Ir;
use crate::pipeline::Generated;
use crate::source::{FileId, Loc, Position, SourceMap};

#[cfg(feature = "go")]
pub(crate) use git::Copied;
pub use git::GitError;

/// The source of a side's definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A file or folder with definitions, a crate, a kubesmith.toml; `-` is standard input.
    Path(PathBuf),
    /// A revision of the repository around the current folder.
    Git {
        /// A revision in git's notation: `main`, `v1.2.0`, `HEAD~3`.
        revision: String,
        /// A path in it, from the top of the repository, or with `./` from the current folder; empty: the
        /// top; `None`: the path of the other side.
        path: Option<String>,
    },
    /// A cluster, by the context of a kubeconfig; `None`: the current one.
    Cluster {
        /// The context's name.
        context: Option<String>,
    },
}

impl Operand {
    /// Reads `PATH`, `-`, `git:REV`, `git:REV:PATH`, `REV:PATH`, `cluster` or `cluster:CONTEXT`. The name of
    /// an existing file is a path.
    pub fn parse(text: &str) -> Self {
        let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        if Path::new(text).exists() {
            return Operand::Path(text.into());
        }
        if let Some(rest) = text.strip_prefix("git:") {
            let (revision, path) = rest
                .split_once(':')
                .map_or((rest, None), |(revision, path)| (revision, Some(path.to_owned())));
            return Operand::Git { revision: revision.to_owned(), path };
        }
        match text.split_once(':') {
            Some(("cluster", context)) => Operand::Cluster { context: filled(context) },
            None if text == "cluster" => Operand::Cluster { context: None },
            Some((revision, path)) if !revision.is_empty() => {
                Operand::Git { revision: revision.to_owned(), path: Some(path.to_owned()) }
            }
            _ => Operand::Path(text.into()),
        }
    }

    /// The path on disk, for the other side of a revision.
    fn path(&self) -> Option<&Path> {
        match self {
            Operand::Path(path) if path.as_os_str() != "-" => Some(path),
            _ => None,
        }
    }

    /// The explicit path in a revision.
    fn git_path(&self) -> Option<&str> {
        match self {
            Operand::Git { path, .. } => path.as_deref(),
            _ => None,
        }
    }

    /// Whether this revision refers to the place of the other side.
    fn is_at_the_place_of(&self, other: &Operand) -> bool {
        match (self, other.git_path(), other.path()) {
            (Operand::Git { path: None, .. }, ..) => true,
            (Operand::Git { path: Some(path), .. }, Some(other), _) => path == other,
            (Operand::Git { path: Some(path), .. }, _, Some(other)) => git::is_same_place(path, other),
            _ => false,
        }
    }
}

/// The reason why a side cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Git reports an error.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The cluster yields no definitions.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The configuration of the source cannot be used.
    #[error(transparent)]
    Config(#[from] crate::config::UsageError),
    /// Both sides are standard input, which can be read only once.
    #[error("only one of the sides can be standard input")]
    StandardInputTwice,
}

impl LoadError {
    /// Advice.
    pub fn help(&self) -> String {
        match self {
            LoadError::Git(error) => error.help(),
            LoadError::Cluster(error) => error.help(),
            LoadError::Config(_) => "name a kubesmith.toml, a crate, or files with CRDs".to_owned(),
            LoadError::StandardInputTwice => "write one of them to a file".to_owned(),
        }
    }
}

/// A side.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The definitions without errors.
    pub definitions: Definitions,
    /// The source files.
    pub sources: SourceMap,
    /// The diagnostics about them.
    pub diagnostics: Vec<Diagnostic>,
    /// Further notes.
    pub notes: Vec<String>,
    origins: BTreeMap<String, Origin>,
    /// The representations that definitions were generated from.
    runs: Vec<Ir>,
    /// The copy of a revision, whose folder prefixes file names.
    copied: Option<git::Copied>,
}

/// The source of a definition.
#[derive(Clone, Debug)]
enum Origin {
    /// A document.
    Text(Place),
    /// Types, by the number of the run that generated it.
    Source(usize),
    /// A cluster, without a file.
    Cluster,
}

/// Loads both sides.
///
/// # Errors
/// Returns the errors listed in [`LoadError`]. Errors in files are diagnostics of the sides.
pub fn load(old: &Operand, new: &Operand, access: &Access) -> Result<(Loaded, Loaded), LoadError> {
    let is_input = |side: &Operand| *side == Operand::Path("-".into());
    if is_input(old) && is_input(new) {
        return Err(LoadError::StandardInputTwice);
    }
    // A cluster is compared only on the definitions that the files have.
    let (old_side, new_side) = match (old, new) {
        (Operand::Cluster { .. }, Operand::Cluster { .. }) => {
            (side(old, new, access, &Wanted::All)?, side(new, old, access, &Wanted::All)?)
        }
        (Operand::Cluster { .. }, _) => {
            let new_side = side(new, old, access, &Wanted::All)?;
            (side(old, new, access, &wanted(&new_side))?, new_side)
        }
        _ => match side(old, new, access, &Wanted::All) {
            Ok(old_side) => {
                let new_side = side(new, old, access, &wanted(&old_side))?;
                (old_side, new_side)
            }
            Err(LoadError::Git(error @ GitError::NotInRevision { .. })) if old.is_at_the_place_of(new) => {
                let new_side = side(new, old, access, &Wanted::All)?;
                if new_side.definitions.is_empty() {
                    return Err(error.into());
                }
                (Loaded { notes: vec![format!("{error}: everything is new")], ..Loaded::default() }, new_side)
            }
            Err(error) => return Err(error),
        },
    };
    Ok((without_older(old_side, old, new, &new_side), new_side))
}

/// The older side; a revision whose folder has no definition yet is a valid empty side.
fn without_older(mut side: Loaded, old: &Operand, new: &Operand, new_side: &Loaded) -> Loaded {
    let is_none = |found: &Diagnostic| found.code == Code::NO_DEFINITION;
    let is_revision = matches!(old, Operand::Git { .. });
    if is_revision
        && !new_side.definitions.is_empty()
        && side.definitions.is_empty()
        && side.diagnostics.iter().any(is_none)
        && old.is_at_the_place_of(new)
    {
        side.diagnostics.retain(|found| !is_none(found));
        side.notes.push("the older revision has no definition there: everything is new".to_owned());
    }
    side
}

fn wanted(side: &Loaded) -> Wanted {
    Wanted::IfThere(side.definitions.keys().cloned().collect())
}

fn side(operand: &Operand, other: &Operand, access: &Access, wanted: &Wanted) -> Result<Loaded, LoadError> {
    match operand {
        Operand::Path(path) => self::path(path),
        Operand::Git { revision, path } => {
            git::load(revision, path.as_deref().or(other.git_path()), other.path())
        }
        Operand::Cluster { context } => {
            let access =
                Access { context: context.clone().or_else(|| access.context.clone()), ..access.clone() };
            let mut loaded = Loaded::of(cluster::definitions(&access, wanted)?);
            loaded.origins.values_mut().for_each(|origin| *origin = Origin::Cluster);
            Ok(loaded)
        }
    }
}

/// Loads files, folders of them, or source.
fn path(path: &Path) -> Result<Loaded, LoadError> {
    let is_missing = path.as_os_str() != "-" && !path.exists();
    if let Some(revision) = path.to_str().filter(|name| is_missing && git::is_revision(name)) {
        return Err(GitError::NoPrefix { revision: revision.to_owned() }.into());
    }
    if let Some(source) = source::Source::at(path) {
        return source::load(&source);
    }
    let (mut inputs, mut unreadable) = (Vec::new(), Vec::new());
    files::read(path, &mut inputs, &mut unreadable);
    let mut loaded = Loaded::of(inputs);
    loaded.diagnostics.splice(0..0, unreadable);
    Ok(loaded)
}

/// The location of the field or type whose change in a generated definition this is.
pub fn place(generated: &Generated, change: &Change) -> Option<Loc> {
    source::place(&generated.ir, &generated.sources, change)
}

/// The definitions in texts. Other files may be beside them: an error is reported only if no text has a
/// definition.
pub fn texts(inputs: Vec<Input>) -> Loaded {
    Loaded::of(inputs)
}

impl Loaded {
    fn of(inputs: Vec<Input>) -> Self {
        let read = import::definitions(inputs, Purpose::Compare);
        let mut out = Loaded { sources: read.sources, diagnostics: read.diagnostics, ..Loaded::default() };
        for crd in read.crds {
            out.add(crd);
        }
        if !out.definitions.is_empty() {
            out.diagnostics.retain(|found| found.code != Code::NO_DEFINITION);
        }
        diag::sort(&mut out.diagnostics, &out.sources);
        out
    }

    fn add(&mut self, crd: Crd) {
        let place = crd.place;
        match Definition::new(crd.object, &crd.order, crd.stored) {
            Ok(definition) => {
                self.origins.insert(definition.name.clone(), Origin::Text(place));
                self.definitions.insert(definition.name.clone(), definition);
            }
            Err(error) => {
                let message = format!("the schema cannot be read: {error}");
                let path = ["spec".to_owned(), "versions".to_owned()];
                let loc = place.loc(&mut Sites::new(&self.sources), &path);
                self.diagnostics.push(
                    Diagnostic::error(Code::REFUSED_SCHEMA, loc, message)
                        .help("API servers refuse it as well"),
                );
            }
        }
    }

    /// The unreadable parts, in the words of the diagnostics.
    pub fn unread(&self) -> impl Iterator<Item = Unread> {
        let errors = self.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        errors.map(|found| {
            let place = found.primary.map(|loc| (self.file_name(loc.file), self.sources.position(loc)));
            Unread { message: format!("{}: {}", found.code, found.message), place }
        })
    }

    /// The name of a file as a user would write it.
    fn file_name(&self, file: FileId) -> String {
        let name = &*self.sources.file(file).name;
        self.copied.as_ref().map_or_else(|| name.to_owned(), |copied| copied.name(name))
    }

    /// Whether a part could not be read.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|found| found.severity == Severity::Error)
    }
}

/// Locates changes in files: in the new definition, or in the old one if it is removed.
#[derive(Debug)]
pub struct Locator<'a> {
    sides: [&'a Loaded; 2],
    /// The lines of the last definition: changes come in the order of definitions.
    last: Option<(String, Lines<'a>)>,
}

impl<'a> Locator<'a> {
    /// Locates changes in both sides.
    pub fn new(old: &'a Loaded, new: &'a Loaded) -> Self {
        Self { sides: [new, old], last: None }
    }

    /// The file and position of a change.
    pub fn locate(&mut self, change: &Change) -> Option<(String, Position)> {
        let side = self.sides.into_iter().find(|side| side.definitions.contains_key(&change.crd))?;
        let (file, position) = match side.origins.get(&change.crd)? {
            Origin::Cluster => return None,
            Origin::Source(run) => {
                let loc = source::place(side.runs.get(*run)?, &side.sources, change)?;
                (loc.file, side.sources.position(loc))
            }
            Origin::Text(place) => {
                if self.last.as_ref().is_none_or(|(crd, _)| *crd != change.crd) {
                    self.last = Some((change.crd.clone(), place.lines(&side.sources)));
                }
                let (_, lines) = self.last.as_mut()?;
                let steps = steps(change, side.definitions.get(&change.crd)?);
                (place.file(), place.position(lines, &steps))
            }
        };
        Some((side.file_name(file), position))
    }
}

/// The path of a change in the written definition: versions by their numbers.
fn steps(change: &Change, definition: &Definition) -> Vec<String> {
    let mut steps = change.steps.clone();
    if let [spec, versions, name, ..] = &steps[..]
        && spec == "spec"
        && versions == "versions"
        && change.version.is_some()
    {
        match definition.version(name) {
            Some(version) => steps[2] = version.at.to_string(),
            None => steps.truncate(2),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operand_is_a_path_a_revision_or_a_cluster() {
        let git = |revision: &str, path: Option<&str>| Operand::Git {
            revision: revision.to_owned(),
            path: path.map(str::to_owned),
        };
        for (text, wanted) in [
            ("crds", Operand::Path("crds".into())),
            ("-", Operand::Path("-".into())),
            ("git:main", git("main", None)),
            ("git:main:config/crd", git("main", Some("config/crd"))),
            ("HEAD~1:./crds", git("HEAD~1", Some("./crds"))),
            ("HEAD:", git("HEAD", Some(""))),
            ("git:HEAD:", git("HEAD", Some(""))),
            ("cluster", Operand::Cluster { context: None }),
            ("cluster:prod:eu", Operand::Cluster { context: Some("prod:eu".to_owned()) }),
            (":x", Operand::Path(":x".into())),
        ] {
            assert_eq!(Operand::parse(text), wanted, "{text}");
        }
    }
}
