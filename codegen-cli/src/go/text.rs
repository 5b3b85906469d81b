//! Builds Rust source for Go declarations, with a map of positions.

use crate::source::{FileId, Loc, Piece};

use super::syntax::{Place, Word};

/// The length in bytes from which a text gets another part.
const PART: usize = 32 << 10;

/// The place of a part of a file.
pub(super) fn loc(file: FileId, place: &Place) -> Loc {
    let at = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
    Loc { file, start: at(place.start), end: at(place.end) }
}

/// The Rust source for a file.
#[derive(Debug)]
pub(super) struct Text {
    /// The file.
    file: FileId,
    /// The source.
    pub(super) out: String,
    /// The map of positions to the file.
    pub(super) pieces: Vec<Piece>,
}

impl Text {
    pub(super) fn new(file: FileId) -> Self {
        Self { file, out: String::new(), pieces: Vec::new() }
    }

    /// Adds text without a position in the file.
    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Adds text for a part of the file.
    pub(super) fn part(&mut self, text: &str, place: &Place) {
        let at = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        let start = at(self.out.len());
        self.out.push_str(text);
        self.pieces.push(Piece { start, end: at(self.out.len()), loc: loc(self.file, place) });
    }

    /// Adds a comment with a marker: `///`, `//!` or `//`.
    pub(super) fn marker(&mut self, comment: &str, marker: &Word) {
        self.push(comment);
        self.push(" ");
        self.part(&marker.text, &marker.place);
        self.push("\n");
    }

    /// The text and other texts of the same file, in parts that are not empty, so that several threads can read a long one.
    pub(super) fn with<'o>(self, others: impl Iterator<Item = &'o Text>) -> Vec<Self> {
        let mut parts = vec![self];
        for other in others {
            match parts.last_mut() {
                Some(last) if last.out.len() < PART => last.append(other),
                _ => parts.push(Self {
                    file: other.file,
                    out: other.out.clone(),
                    pieces: other.pieces.clone(),
                }),
            }
        }
        parts.retain(|part| !part.out.trim().is_empty());
        parts
    }

    /// Adds the contents of another text of the same file.
    fn append(&mut self, other: &Text) {
        let start = u32::try_from(self.out.len()).unwrap_or(u32::MAX);
        self.out.push_str(&other.out);
        let moved =
            |piece: &Piece| Piece { start: piece.start + start, end: piece.end + start, loc: piece.loc };
        self.pieces.extend(other.pieces.iter().map(moved));
    }

    /// Adds an attribute.
    pub(super) fn attribute(&mut self, text: &str, place: &Place) {
        self.part(text, place);
        self.push("\n");
    }
}

/// Returns a Go name as a Rust identifier.
pub(super) fn ident(name: &str) -> String {
    if is_plain(name) || syn::parse_str::<syn::Ident>(name).is_ok() {
        return name.to_string();
    }
    let raw = format!("r#{name}");
    if !matches!(name, "_" | "self" | "Self" | "super" | "crate")
        && syn::parse_str::<syn::Ident>(&raw).is_ok()
    {
        return raw;
    }
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("{plain}_")
}

/// Whether a name is an identifier at first sight, as exported names are: `Self` is the only keyword with a capital.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name != "Self"
}
