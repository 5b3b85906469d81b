//! Holds source files that are not written yet.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::paths::absolute;

/// Texts of source files that replace those on disk.
#[derive(Clone, Debug, Default)]
pub struct Unsaved(BTreeMap<PathBuf, String>);

impl Unsaved {
    /// Adds a file, in any spelling of its path.
    pub fn insert(&mut self, path: &Path, text: String) {
        self.0.insert(absolute(path), text);
    }

    /// Whether all files are read from disk.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, path: &Path) -> Option<&String> {
        if self.is_empty() { None } else { self.0.get(&absolute(path)) }
    }

    pub(super) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.get(path).map_or_else(|| fs::read(path), |text| Ok(text.clone().into_bytes()))
    }

    pub(super) fn is_file(&self, path: &Path) -> bool {
        self.get(path).is_some() || path.is_file()
    }
}
