//! Collects changes to a project's files before the first is written.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Report, ScaffoldError, lines};
use crate::load::Unsaved;

/// The prefix of comments at which lines are added.
const MARKER: &str = "+kubesmith:scaffold:";

/// Files to be written and lines to be added.
pub(super) struct Changes<'a> {
    root: &'a Path,
    report: Report,
    /// Existing files that change.
    edited: BTreeMap<PathBuf, Edit>,
    /// Texts of new files, and whether they are programs.
    new: BTreeMap<PathBuf, (String, bool)>,
}

/// The text of a file, before and after.
struct Edit {
    old: String,
    new: String,
}

impl<'a> Changes<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, report: Report::default(), edited: BTreeMap::new(), new: BTreeMap::new() }
    }

    /// Adds a file if it does not exist.
    pub(super) fn file(&mut self, path: &str, text: String) {
        self.put(path, text, false);
    }

    /// Adds a program if it does not exist.
    pub(super) fn program(&mut self, path: &str, text: String) {
        self.put(path, text, true);
    }

    fn put(&mut self, path: &str, text: String, is_program: bool) {
        let path = PathBuf::from(path);
        match self.root.join(&path).exists() {
            true => self.report.kept.push(path),
            false => drop(self.new.insert(path, (text, is_program))),
        }
    }

    /// Replaces a file of ours.
    pub(super) fn replace(&mut self, path: &str, text: String) {
        let path = PathBuf::from(path);
        match fs::read_to_string(self.root.join(&path)) {
            Ok(old) if old == text => {}
            Ok(old) => drop(self.edited.insert(path, Edit { old, new: text })),
            Err(_) => drop(self.new.insert(path, (text, false))),
        }
    }

    /// Adds a line before the comment `+kubesmith:scaffold:<marker>` of a file, unless it is there. `what`
    /// describes the place, for the message.
    pub(super) fn line(
        &mut self,
        path: &str,
        marker: &str,
        line: &str,
        what: &'static str,
    ) -> Result<(), ScaffoldError> {
        self.add(path, marker, line, what, |text| lines::has(text, line))
    }

    /// Adds a package to the dependencies of a manifest, unless it is among them in any form.
    pub(super) fn dependency(&mut self, path: &str, name: &str, value: &str) -> Result<(), ScaffoldError> {
        let line = format!("{name}{value}");
        self.add(path, "dependencies", &line, "dependencies", |text| lines::has_key(text, name))
    }

    fn add(
        &mut self,
        path: &str,
        marker: &str,
        line: &str,
        what: &'static str,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<(), ScaffoldError> {
        let path = PathBuf::from(path);
        let text = match (self.edited.get(&path), self.new.get(&path)) {
            (Some(edit), _) => edit.new.clone(),
            (None, Some((text, _))) => text.clone(),
            (None, None) => fs::read_to_string(self.root.join(&path))
                .map_err(|source| ScaffoldError::Io { action: "read", path: path.clone(), source })?,
        };
        if is_there(&text) {
            return Ok(());
        }
        let marker = format!("{MARKER}{marker}");
        let Some(new) = lines::with(&text, &marker, line) else {
            return Err(ScaffoldError::NoMarker { path, marker, what, lines: line.to_string() });
        };
        match (self.new.get_mut(&path), self.edited.get_mut(&path)) {
            (Some((text, _)), _) => *text = new,
            (None, Some(edit)) => edit.new = new,
            (None, None) => drop(self.edited.insert(path, Edit { old: text, new })),
        }
        Ok(())
    }

    /// The future text of a file; `None` if it does not exist.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        match (self.edited.get(path), self.new.get(path)) {
            (Some(edit), _) => Some(edit.new.clone()),
            (None, Some((text, _))) => Some(text.clone()),
            (None, None) => fs::read_to_string(self.root.join(path)).ok(),
        }
    }

    /// The future files, for the generator.
    pub(super) fn unsaved(&self) -> Unsaved {
        let mut out = Unsaved::default();
        let new = self.new.iter().map(|(path, (text, _))| (path, text));
        let edited = self.edited.iter().map(|(path, edit)| (path, &edit.new));
        for (path, text) in new.chain(edited) {
            out.insert(&self.root.join(path), text.clone());
        }
        out
    }

    /// Writes all changes.
    pub(super) fn write(self) -> Result<Report, ScaffoldError> {
        let Self { root, mut report, edited, new } = self;
        report.kept.retain(|path| !edited.contains_key(path));
        for (path, (text, is_program)) in new {
            let text = laid_out(root, &path, None, text);
            write(&root.join(&path), &text, is_program)?;
            report.written.push(path);
        }
        for (path, Edit { old, new }) in edited {
            let text = laid_out(root, &path, Some(&old), new);
            write(&root.join(&path), &text, false)?;
            report.changed.push(path);
        }
        Ok(report)
    }
}

/// The text as formatted by rustfmt, if it is Rust. An existing file is formatted only if it was before, so
/// that only new lines move.
fn laid_out(root: &Path, path: &Path, old: Option<&str>, text: String) -> String {
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    let whole = root.join(path);
    // rustfmt reads the project's rustfmt.toml from its working directory.
    let folder = whole.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let was_formatted = || old.is_none_or(|old| rustfmt(old, folder).as_deref() == Some(old));
    if !is_rust || !was_formatted() {
        return text;
    }
    rustfmt(&text, folder).unwrap_or(text)
}

/// The text as formatted by rustfmt; `None` without rustfmt, or if rustfmt cannot parse it.
fn rustfmt(text: &str, folder: &Path) -> Option<String> {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]).current_dir(folder);
    let mut running =
        rustfmt.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    // rustfmt reads all input before it writes.
    let written = running.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    let out = running.wait_with_output().ok()?;
    let is_fine = out.status.success() && matches!(written, Some(Ok(())));
    String::from_utf8(out.stdout).ok().filter(|_| is_fine)
}

fn write(path: &Path, text: &str, is_program: bool) -> Result<(), ScaffoldError> {
    let failed = |action, path: &Path| {
        let path = path.to_path_buf();
        move |source: io::Error| ScaffoldError::Io { action, path, source }
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
    }
    fs::write(path, text).map_err(failed("write", path))?;
    #[cfg(unix)]
    if is_program {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed("write", path))?;
    }
    #[cfg(not(unix))]
    let _ = is_program;
    Ok(())
}
