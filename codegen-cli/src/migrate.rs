//! Lists a program's uses of kube-rs's run time with their replacements: `kubesmith migrate --from kube-rs`.
//!
//! docs/from-kube-rs/migration.md has the steps. Source is read, not run, so code in macros is ignored.

mod manifest;
mod rows;
mod scan;
mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kubesmith_core::nesting;

use crate::parallel;
use crate::paths::{absolute, display};

pub use rows::{ROWS, Row};
pub use settings::{WriteError, write};

/// A use of kube-rs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, relative to the current folder.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The path in kube, such as `kube::runtime::Controller`; for a manifest, the dependency.
    pub path: String,
    /// Its replacement.
    pub row: &'static Row,
}

/// The findings in a folder.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The uses, by file and line.
    pub places: Vec<Place>,
    /// The number of files read.
    pub files: usize,
    /// Files that could not be read, with the reason.
    pub unread: Vec<String>,
}

impl Report {
    /// The folders of the packages in `folder` with types of kube-rs.
    #[must_use]
    pub fn packages(&self, folder: &Path) -> BTreeSet<String> {
        let types = self.places.iter().filter(|place| place.path == "kube::CustomResource");
        let package = |place: &Place| {
            let above = Path::new(&place.file).ancestors().skip(1);
            let mut inside = above.take_while(|above| absolute(above) != absolute(folder));
            inside.find(|above| above.join("Cargo.toml").is_file()).map(display)
        };
        types.filter_map(package).collect()
    }
}

/// Reads every Rust file and manifest of a folder, without `target` and hidden folders, and the manifests of the workspaces
/// above that set the version of kube.
///
/// # Errors
/// Returns an error if the folder cannot be read. An unreadable file is part of the report.
pub fn report(folder: &Path) -> io::Result<Report> {
    let mut files = Vec::new();
    sources(folder, &mut files)?;
    let manifests = files.iter().filter(|file| is_manifest(file));
    let above: BTreeSet<PathBuf> =
        manifests.filter_map(|file| manifest::of_workspace(folder, file)).collect();
    files.extend(above);
    let read = parallel::map(&files, |file| {
        let name = display(file);
        places(file, &name).map_err(|reason| format!("{name}: {reason}"))
    });
    let mut report = Report { files: files.len(), ..Report::default() };
    for result in read {
        match result {
            Ok(places) => report.places.extend(places),
            Err(reason) => report.unread.push(reason),
        }
    }
    report.places.sort();
    report.places.dedup();
    Ok(report)
}

fn places(file: &Path, name: &str) -> Result<Vec<Place>, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    if is_manifest(file) {
        return manifest::places(name, &text);
    }
    nesting::check(&text).map_err(|_| nesting::message())?;
    let syntax =
        syn::parse_file(&text).map_err(|error| format!("line {}: {error}", error.span().start().line))?;
    Ok(scan::places(name, &syntax))
}

fn is_manifest(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "Cargo.toml")
}

/// Files in order of their names.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        let is_left_out = name == "target" || name.as_encoded_bytes().starts_with(b".");
        // Links are skipped, as they may form cycles.
        if kind.is_dir() && !is_left_out {
            sources(&path, out)?;
        } else if kind.is_file()
            && (is_manifest(&path) || path.extension().is_some_and(|extension| extension == "rs"))
        {
            out.push(path);
        }
    }
    Ok(())
}
