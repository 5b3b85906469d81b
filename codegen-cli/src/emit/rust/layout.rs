//! Layouts: a kind's skeleton printed once, for all kinds of the same shape.
//!
//! Two kinds with the same scope and verbs have files that differ in names alone. So the skeleton
//! is printed with stand-ins of a generous width, and the names are put into the printed text.
//! That costs a hundredth of printing a syntax tree, and has a second merit: lines break at the
//! same places for every kind, and renaming one moves none.
//!
//! Text goes into code and documentation here, never into string literals but the names of files; the plan binds only
//! identifiers, paths and documentation without line breaks.

use super::skeleton::{Bindings, Skeleton};

/// Placeholders of the kinds' skeletons, with the letter that stands for each and how often, at
/// two bytes each: what the printer takes for the width of the name.
const STAND_INS: [(&str, char, usize); 12] = [
    ("Object", 'а', 17),
    ("Kind", 'б', 8),
    ("Plural", 'в', 9),
    ("Client", 'г', 13),
    ("module", 'д', 9),
    ("group", 'е', 5),
    ("version", 'ж', 4),
    ("root", 'з', 3),
    ("ApiVersion", 'и', 1),
    ("Configuration", 'л', 31),
    ("accessor", 'м', 9),
    ("GroupVersion", 'н', 6),
];

/// The letter that stands for the summary's lines.
const SUMMARY: char = 'к';

/// A printed skeleton.
pub(super) struct Layout {
    pieces: Vec<Piece>,
}

enum Piece {
    Text(String),
    /// A placeholder by its name.
    Name(&'static str),
    /// The summary, at column 0.
    Summary,
}

impl Layout {
    /// What kinds must have in common to share a layout.
    pub(super) fn shape(kind: &Bindings) -> Vec<bool> {
        let summary = kind.get("Summary").is_some_and(|text| !text.is_empty());
        kind.flags().iter().map(|(_, set)| *set).chain([summary]).collect()
    }

    /// Prints the skeleton for kinds of the shape of this one.
    pub(super) fn new(skeleton: &Skeleton, package: &Bindings, kind: &Bindings) -> Self {
        let named = STAND_INS.iter().fold(kind.only_flags(), |bindings, (name, letter, width)| {
            bindings.text(name, letter.to_string().repeat(*width))
        });
        let summary = kind.get("Summary").is_some_and(|text| !text.is_empty());
        let named = named.text("Summary", if summary { SUMMARY.to_string() } else { String::new() });
        let text = crate::format::rust("", &skeleton.fill(&[package, &named]));
        Self { pieces: pieces(&text) }
    }

    /// Puts the names in.
    pub(super) fn print(&self, header: &str, package: &Bindings, kind: &Bindings) -> String {
        let mut out = String::with_capacity(16 * 1024);
        out.push_str(header);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Name(name) => match kind.get(name).or_else(|| package.get(name)) {
                    Some(value) => out.push_str(value),
                    None => panic!("a skeleton asks for `{name}`, which nothing binds"),
                },
                Piece::Summary => {
                    let lines = kind.get("Summary").unwrap_or_default().lines();
                    out.push_str(&lines.collect::<Vec<_>>().join("\n/// "));
                }
            }
        }
        out
    }
}

/// Takes the stand-ins out of a printed text; everything else in it is ASCII.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !c.is_ascii()) {
        pieces.push(Piece::Text(rest[..at].to_owned()));
        rest = &rest[at..];
        let stand_in = STAND_INS.iter().find_map(|(name, letter, width)| {
            let width = width * letter.len_utf8();
            rest.starts_with(*letter).then_some((Piece::Name(name), width))
        });
        let (piece, width) = stand_in.unwrap_or((Piece::Summary, SUMMARY.len_utf8()));
        pieces.push(piece);
        rest = &rest[width..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces
}
