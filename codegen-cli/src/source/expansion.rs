//! Maps the text of expanded macro calls, which is not on disk, to the original tokens.

use std::sync::Arc;

use super::{FileId, Loc, SourceFile, SourceMap};

/// A range of bytes of the text, and the location of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The token's location, possibly in another expansion.
    pub loc: Loc,
}

/// An expansion of a call in a file.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    /// The macro of that call.
    name: Arc<str>,
    /// The path of the macro in that call.
    path: Loc,
    /// The whole call.
    call: Loc,
    /// The number of enclosing expansions.
    depth: usize,
    pieces: Vec<Piece>,
}

/// A location on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Real {
    /// The location; for text from a macro, the macro's name in the call.
    pub loc: Loc,
    /// The macro of that call.
    pub made_by: Option<Arc<str>>,
    /// The location in the definition of the macro, for its text.
    pub definition: Option<Loc>,
}

impl SourceMap {
    /// Adds a file for the expansion of a call, given the whole call and the path in it.
    pub fn add_expansion(&mut self, name: &str, path: Loc, call: Loc) -> FileId {
        // For nested calls, the user's call counts.
        let expansion = match self.expansions.get(&path.file) {
            Some(outer) => {
                Expansion { name: outer.name.clone(), depth: outer.depth + 1, pieces: Vec::new(), ..*outer }
            }
            None => Expansion { name: name.into(), path, call, depth: 1, pieces: Vec::new() },
        };
        let file = self.file(expansion.path.file);
        let (path, name) = (file.path.clone(), file.name.clone());
        let id = self.add(SourceFile { path, name, text: "".into() });
        self.expansions.insert(id, expansion);
        id
    }

    /// The number of expansions around a file; zero for one on disk.
    pub fn expansion_depth(&self, file: FileId) -> usize {
        self.expansions.get(&file).map_or(0, |expansion| expansion.depth)
    }

    /// Sets the text of an expansion and its tokens, in order.
    pub fn set_expansion(&mut self, id: FileId, text: String, pieces: Vec<Piece>) {
        self.set_text(id, text);
        if let Some(expansion) = self.expansions.get_mut(&id) {
            expansion.pieces = pieces;
        }
    }

    /// The location on disk for a location.
    pub fn real(&self, loc: Loc) -> Real {
        let Some(expansion) = self.expansions.get(&loc.file) else {
            return Real { loc, made_by: None, definition: None };
        };
        let of_call = |loc: &Loc| {
            loc.file == expansion.call.file
                && expansion.call.start <= loc.start
                && loc.end <= expansion.call.end
        };
        let pieces = &expansion.pieces;
        let first = pieces.partition_point(|piece| piece.end <= loc.start);
        let last =
            pieces.partition_point(|piece| piece.start < loc.end.max(loc.start + 1)).max(first + 1) - 1;
        let token = |at: usize| pieces.get(at).map(|piece| self.origin(piece.loc));
        let made_by = Some(expansion.name.clone());
        let (first, last) = (token(first), token(last));
        match (first, last) {
            (Some(first), Some(last)) if of_call(&first) => {
                let is_range = of_call(&last) && first.start <= last.start;
                let loc = if is_range { first.to(last) } else { first };
                Real { loc, made_by, definition: None }
            }
            (definition, _) => Real { loc: expansion.path, made_by, definition },
        }
    }

    /// The original location of a token.
    fn origin(&self, mut loc: Loc) -> Loc {
        while let Some(expansion) = self.expansions.get(&loc.file) {
            let at = expansion.pieces.partition_point(|piece| piece.end <= loc.start);
            match expansion.pieces.get(at) {
                // Files are made only from earlier ones.
                Some(piece) if piece.loc.file < loc.file => loc = piece.loc,
                _ => return expansion.path,
            }
        }
        loc
    }
}
