//! Source files as they are to be, before they are written.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::paths::absolute;

/// Texts of source files, which are read instead of what is on disk.
#[derive(Clone, Debug, Default)]
pub struct Unsaved(BTreeMap<PathBuf, String>);

impl Unsaved {
    /// Adds a file, however its path is spelled.
    pub fn insert(&mut self, path: &Path, text: String) {
        self.0.insert(absolute(path), text);
    }

    /// Whether everything is read from disk.
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
