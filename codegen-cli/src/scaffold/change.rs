//! Changes to a project's files, collected before the first is written.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Report, ScaffoldError};

/// How comments begin at which lines are added.
const MARKER: &str = "+kubesmith:scaffold:";

/// Files to be written and lines to be added.
pub(super) struct Changes<'a> {
    root: &'a Path,
    report: Report,
    /// New texts of files that are there.
    edited: BTreeMap<PathBuf, String>,
    /// Texts of files that are not there yet, and whether they are programs.
    new: BTreeMap<PathBuf, (String, bool)>,
}

impl<'a> Changes<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, report: Report::default(), edited: BTreeMap::new(), new: BTreeMap::new() }
    }

    /// A file that is written if there is none.
    pub(super) fn file(&mut self, path: &str, text: String) {
        self.put(path, text, false);
    }

    /// A program that is written if there is none.
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

    /// A file of ours that is written anew.
    pub(super) fn replace(&mut self, path: &str, text: String) {
        let path = PathBuf::from(path);
        match fs::read_to_string(self.root.join(&path)) {
            Ok(old) if old == text => {}
            Ok(_) => drop(self.edited.insert(path, text)),
            Err(_) => drop(self.new.insert(path, (text, false))),
        }
    }

    /// Adds a line before the comment `+kubesmith:scaffold:<marker>` of a file, unless it is there. `what` is what stands
    /// there, for the message.
    pub(super) fn line(
        &mut self,
        path: &str,
        marker: &str,
        line: &str,
        what: &'static str,
    ) -> Result<(), ScaffoldError> {
        let path = PathBuf::from(path);
        let text = match (self.edited.get(&path), self.new.get(&path)) {
            (Some(text), _) | (None, Some((text, _))) => text.clone(),
            (None, None) => fs::read_to_string(self.root.join(&path))
                .map_err(|source| ScaffoldError::Io { action: "read", path: path.clone(), source })?,
        };
        let marker = format!("{MARKER}{marker}");
        let Some(text) = with_line(&text, &marker, line) else {
            if text.lines().any(|old| old.trim() == line.trim()) {
                return Ok(());
            }
            return Err(ScaffoldError::NoMarker { path, marker, what, lines: line.to_string() });
        };
        match self.new.get_mut(&path) {
            Some((new, _)) => *new = text,
            None => drop(self.edited.insert(path, text)),
        }
        Ok(())
    }

    /// Carries everything out.
    pub(super) fn write(self) -> Result<Report, ScaffoldError> {
        let Self { root, mut report, edited, new } = self;
        for (path, (text, is_program)) in new {
            write(&root.join(&path), &text, is_program)?;
            report.written.push(path);
        }
        for (path, text) in edited {
            write(&root.join(&path), &text, false)?;
            report.changed.push(path);
        }
        format(root, report.written.iter().chain(&report.changed));
        Ok(report)
    }
}

/// The text with the line before the marker's; `None` if there is no marker or the line is there.
fn with_line(text: &str, marker: &str, line: &str) -> Option<String> {
    let is_marker = |found: &&str| {
        let found = found.trim_start();
        let comment = found.strip_prefix("//").or_else(|| found.strip_prefix('#'));
        comment.is_some_and(|comment| comment.trim() == marker)
    };
    let found = text.lines().find(is_marker)?;
    if text.lines().any(|old| old.trim() == line.trim()) {
        return None;
    }
    let indent = &found[..found.len() - found.trim_start().len()];
    let mut out = String::with_capacity(text.len() + line.len() + 8);
    for old in text.lines() {
        if is_marker(&old) {
            out.push_str(&format!("{indent}{line}\n"));
        }
        out.push_str(old);
        out.push('\n');
    }
    Some(out)
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

/// Lets rustfmt break lines where names are long. Without rustfmt they are as the templates have them.
fn format<'a>(root: &Path, files: impl Iterator<Item = &'a PathBuf>) {
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let rust: Vec<PathBuf> = rust.map(|path| root.join(path)).collect();
    if !rust.is_empty() {
        let mut rustfmt = Command::new("rustfmt");
        rustfmt.args(["--edition", "2024"]).args(rust);
        let _ = rustfmt.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_before_the_marker_and_only_once() {
        let text = "a\n    // +kubesmith:scaffold:x\nb\n";
        let once = with_line(text, "+kubesmith:scaffold:x", "new();").unwrap();
        assert_eq!(once, "a\n    new();\n    // +kubesmith:scaffold:x\nb\n");
        assert_eq!(with_line(&once, "+kubesmith:scaffold:x", "new();"), None);
        let toml = with_line("[\n  # +kubesmith:scaffold:m\n]\n", "+kubesmith:scaffold:m", "\"c\",").unwrap();
        assert_eq!(toml, "[\n  \"c\",\n  # +kubesmith:scaffold:m\n]\n");
        assert_eq!(with_line(text, "+kubesmith:scaffold:xy", "new();"), None);
    }
}
