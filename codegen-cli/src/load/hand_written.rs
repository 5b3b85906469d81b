//! Finds the user's files that the generated package includes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::output::Kind;

/// The file that adds types to the scheme.
pub const REGISTER_CUSTOM: &str = "clientset/register_custom.rs";

/// Suffix of the file that extends a kind's file: `balancer_expansion.rs` extends `balancer.rs`.
pub const EXPANSION: &str = "_expansion.rs";

/// The handwritten files below a package's source folder that extend it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandWritten {
    /// The source folder.
    pub folder: PathBuf,
    /// Their texts by their paths below it, `/`-separated; `None`: not UTF-8.
    pub texts: BTreeMap<String, Option<String>>,
}

/// Finds them by their names. Unreadable files are reported later, when the tree is compared with the disk.
pub fn hand_written(source: PathBuf) -> HandWritten {
    let mut texts = BTreeMap::new();
    search(&source, "", &mut texts);
    HandWritten { folder: source, texts }
}

fn search(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Option<String>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            search(&path, &format!("{prefix}{name}/"), found);
        } else if (name.ends_with(EXPANSION) || REGISTER_CUSTOM.ends_with(&format!("/{name}")))
            && let Ok(bytes) = fs::read(&path)
            && let text = String::from_utf8(bytes).ok()
            && !text.as_deref().is_some_and(|text| Kind::Rust.bears_mark(&path, text))
        {
            found.insert(format!("{prefix}{name}"), text);
        }
    }
}
