//! Places of definitions in the files that they are read from.

use std::collections::HashMap;
use std::ops::Range;

use super::beta;
use crate::import::position::Lines;
use crate::source::{FileId, Loc, Position, SourceMap};

/// A document in a file, and the position of an object in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(super) file: FileId,
    pub(super) document: Range<usize>,
    pub(super) prefix: Vec<String>,
    /// The members whose position in the text differs from that in the object, innermost first.
    pub(super) moved: Vec<beta::Moved>,
}

impl Place {
    /// The line of a path in the definition as it is written.
    pub(crate) fn loc(&self, sites: &mut Sites<'_>, path: &[String]) -> Loc {
        let sources = sites.sources;
        let lines =
            sites.lines.entry((self.file, self.document.start)).or_insert_with(|| self.lines(sources));
        lines.locate(&self.full(path))
    }

    /// The lines of the document, for locating many paths.
    pub(crate) fn lines<'a>(&self, sources: &'a SourceMap) -> Lines<'a> {
        Lines::new(sources, self.file, self.document.clone())
    }

    /// The position, in these lines of the document, of a path in the object.
    pub(crate) fn position(&self, lines: &mut Lines<'_>, path: &[String]) -> Position {
        lines.position(&self.full(path))
    }

    /// The number of the file.
    pub(crate) fn file(&self) -> FileId {
        self.file
    }

    fn full(&self, path: &[String]) -> Vec<String> {
        let written = self.moved.iter().find_map(|moved| moved.written(path));
        self.prefix.iter().chain(written.as_deref().unwrap_or(path)).cloned().collect()
    }
}

/// The documents with located paths, each split into lines once.
pub(crate) struct Sites<'a> {
    pub(super) sources: &'a SourceMap,
    lines: HashMap<(FileId, usize), Lines<'a>>,
}

impl<'a> Sites<'a> {
    /// The documents of these files.
    pub(crate) fn new(sources: &'a SourceMap) -> Self {
        Self { sources, lines: HashMap::new() }
    }
}
