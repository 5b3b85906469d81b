//! Holds source files and locations in them.
//!
//! Spans of `proc_macro2` belong to the thread that parsed the text. A [`Loc`] is a plain value: the
//! file's number and a byte range. Every stage after `parse` uses it.

mod expansion;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};

use expansion::Expansion;
pub use expansion::Piece;

/// Number of a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A byte range in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Loc {
    /// The range as `usize`s.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// From the start of `self` to the end of `end`.
    #[must_use]
    pub fn to(self, end: Loc) -> Loc {
        Loc { file: self.file, start: self.start, end: end.end.max(self.end) }
    }
}

/// A source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path on disk.
    pub path: PathBuf,
    /// The path as the user would write it, `/`-separated.
    pub name: Arc<str>,
    /// Its text; empty for a file that could not be read.
    pub text: Arc<str>,
}

/// The files of a run, in the order of their discovery.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// The starts of lines in each file, computed on first use.
    lines: Vec<OnceLock<Vec<usize>>>,
    /// The first file of each name.
    by_name: HashMap<Arc<str>, FileId>,
    /// Files with expansions of macros.
    expansions: HashMap<FileId, Expansion>,
}

impl SourceMap {
    /// Adds a file.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.by_name.entry(file.name.clone()).or_insert(id);
        self.files.push(file);
        self.lines.push(OnceLock::new());
        id
    }

    /// Sets the text of a file, which is only needed for rendering diagnostics.
    pub fn set_text(&mut self, id: FileId, text: String) {
        self.files[id.0 as usize].text = text.into();
        self.lines[id.0 as usize] = OnceLock::new();
    }

    /// Changes the displayed names of files.
    #[cfg(feature = "go")]
    pub(crate) fn rename(&mut self, name: impl Fn(&str) -> String) {
        for file in &mut self.files {
            file.name = name(&file.name).into();
        }
        self.by_name.clear();
        for (at, file) in self.files.iter().enumerate() {
            let id = FileId(u32::try_from(at).unwrap_or(u32::MAX));
            self.by_name.entry(file.name.clone()).or_insert(id);
        }
    }

    /// The file with this number.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The files, in the order of their numbers.
    pub fn into_files(self) -> Vec<SourceFile> {
        self.files
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file was added.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self, loc: Loc) -> Position {
        let text = &self.file(loc.file).text;
        let mut at = (loc.start as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.line(loc.file, at);
        let start = self.line_starts(loc.file)[line];
        Position { line: line + 1, column: text[start..at].chars().count() + 1 }
    }

    /// The whole lines in a range of a file, and the number of the first, from 1.
    pub(crate) fn lines_around(&self, file: FileId, range: Range<usize>) -> (Range<usize>, usize) {
        let starts = self.line_starts(file);
        let (first, last) = (self.line(file, range.start), self.line(file, range.end));
        let end = starts.get(last + 1).copied().unwrap_or(self.file(file).text.len());
        (starts[first]..end, first + 1)
    }

    /// The number, from 0, of the line with this byte.
    fn line(&self, file: FileId, at: usize) -> usize {
        self.line_starts(file).partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The starts of the lines of a file; the first is 0.
    fn line_starts(&self, file: FileId) -> &[usize] {
        self.lines[file.0 as usize].get_or_init(|| {
            let breaks = self.file(file).text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect()
        })
    }

    /// The location of a stored span.
    pub fn loc(&self, span: &Span) -> Option<Loc> {
        let file = *self.by_name.get(&span.file)?;
        Some(Loc { file, start: span.start, end: span.end })
    }

    /// The span for storing a location.
    pub fn span(&self, loc: Loc) -> Span {
        let loc = self.real(loc).loc;
        Span { file: self.file(loc.file).name.clone(), start: loc.start, end: loc.end }
    }
}

/// A place in a source file, for diagnostics after lowering.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// Path as the user would write it, `/`-separated; all places in a file share it.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// Byte offsets into the file.
    pub start: u32,
    /// End of the range, exclusive.
    pub end: u32,
}

fn as_text<S: Serializer>(file: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(file)
}

/// Line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let mut map = SourceMap::default();
        let file = map.add(SourceFile { path: "a".into(), name: "a".into(), text: "ab\nünïx\n".into() });
        let at = |start| map.position(Loc { file, start, end: start }).to_string();
        assert_eq!(at(0), "1:1");
        assert_eq!(at(3), "2:1");
        assert_eq!(at(5), "2:2");
        assert_eq!(at(4), "2:1", "inside a character");
        assert_eq!(at(400), "3:1");
        map.set_text(file, "a\n\nb".to_string());
        assert_eq!(map.position(Loc { file, start: 3, end: 3 }).to_string(), "3:1", "of the new text");
    }

    #[test]
    fn lines_around_a_range_are_whole() {
        let mut map = SourceMap::default();
        let file = map.add(SourceFile { path: "a".into(), name: "a".into(), text: "ab\nc\n\nde".into() });
        assert_eq!(map.lines_around(file, 1..1), (0..3, 1));
        assert_eq!(map.lines_around(file, 4..7), (3..8, 2));
        assert_eq!(map.lines_around(file, 5..5), (5..6, 3));
    }
}
