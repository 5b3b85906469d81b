//! Text that a macro call stands for: a file that no disk has. Its places lead back to the tokens that it was made of.

use std::sync::Arc;

use super::{FileId, Loc, SourceFile, SourceMap};

/// A range of bytes of the text, and where its token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The token's place, perhaps in another expansion.
    pub loc: Loc,
}

/// An expansion of a call that stands in a file.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    /// The macro of that call.
    name: Arc<str>,
    /// The path of the macro in that call.
    path: Loc,
    /// All of that call.
    call: Loc,
    /// How many expansions led to it.
    depth: usize,
    pieces: Vec<Piece>,
}

/// A place on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Real {
    /// The place; of what a macro adds, the name of the macro in the call.
    pub loc: Loc,
    /// The macro that was called there.
    pub made_by: Option<Arc<str>>,
    /// The place in the definition of the macro, of what it adds.
    pub definition: Option<Loc>,
}

impl SourceMap {
    /// Adds a file for the expansion of a call: the whole of it, and the path of the macro in it.
    pub fn add_expansion(&mut self, name: &str, path: Loc, call: Loc) -> FileId {
        // Of calls in expansions, the one that the user wrote counts.
        let expansion = match self.expansions.get(&path.file) {
            Some(outer) => {
                Expansion { name: outer.name.clone(), depth: outer.depth + 1, pieces: Vec::new(), ..*outer }
            }
            None => Expansion { name: name.into(), path, call, depth: 1, pieces: Vec::new() },
        };
        let file = self.file(expansion.path.file);
        let (path, name) = (file.path.clone(), file.name.clone());
        let id = self.add(SourceFile { path, name, text: String::new() });
        self.expansions.insert(id, expansion);
        id
    }

    /// How many expansions led to a file; none to one on disk.
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

    /// The place on disk that a place stands for.
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

    /// Where a token was written.
    fn origin(&self, mut loc: Loc) -> Loc {
        while let Some(expansion) = self.expansions.get(&loc.file) {
            let at = expansion.pieces.partition_point(|piece| piece.end <= loc.start);
            match expansion.pieces.get(at) {
                // Files are made of those before them.
                Some(piece) if piece.loc.file < loc.file => loc = piece.loc,
                _ => return expansion.path,
            }
        }
        loc
    }
}
