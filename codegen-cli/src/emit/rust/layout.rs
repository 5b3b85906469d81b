//! Layouts: a skeleton printed once, for all kinds or types of the same shape.
//!
//! Two kinds with the same scope and verbs have files that differ in names alone. So the skeleton
//! is printed with stand-ins, and the names are put into the printed text.
//! That costs a hundredth of printing a syntax tree, and has a second merit: lines break at the
//! same places for every kind, and renaming one moves none. The same holds for the rows of a list, such as the fields of a
//! type: each shape of rows is printed once.
//!
//! Text goes into code and documentation here, never into string literals but names of files and kinds; the plan binds only
//! identifiers, paths, arguments of attributes, and documentation.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::skeleton::{Bindings, Skeleton, row_mark};

/// Placeholders, with the letter that stands for each and how often, at two bytes each: what the printer takes for the width
/// of the name. That of types which signatures are about is small, so that most signatures stay on one line.
const STAND_INS: [(&str, char, usize); 25] = [
    ("Object", 'а', 1),
    ("Kind", 'б', 8),
    ("Plural", 'в', 9),
    ("Client", 'г', 13),
    ("module", 'д', 9),
    ("group", 'е', 5),
    ("version", 'ж', 4),
    ("root", 'з', 3),
    ("ApiVersion", 'и', 1),
    ("Configuration", 'л', 1),
    ("accessor", 'м', 9),
    ("GroupVersion", 'н', 6),
    ("Type", 'о', 8),
    ("api_version", 'п', 8),
    ("extract", 'р', 10),
    ("ObjectMeta", 'с', 1),
    ("field", 'т', 6),
    ("with", 'у', 8),
    ("serde", 'ф', 20),
    ("FieldType", 'х', 12),
    ("Item", 'ц', 3),
    ("ObjectPath", 'щ', 17),
    ("ConfigurationPath", 'э', 31),
    ("ObjectMetaPath", 'ю', 31),
    ("Getter", 'я', 12),
];

/// What stands for the long paths among the items, so that parameters of theirs get lines of their own.
const LONG_ITEM: (&str, char, usize) = ("Item", 'ш', 31);

/// The length in bytes up to which an item's path is short.
const SHORT_ITEM: usize = 48;

/// Placeholders for lines of documentation, which go away where there is no text.
const LINES: [(&str, char); 2] = [("Summary", 'к'), ("Doc", 'ч')];

/// Text of one shape: flags, whether there is documentation, and whether what stands in parameters is long.
type Shape = Vec<bool>;

/// A printed skeleton.
pub(super) struct Layout {
    pieces: Vec<Piece>,
    /// How rows are printed, at each place where there are some, by their shape.
    rows: BTreeMap<Shape, Vec<Vec<Piece>>>,
}

enum Piece {
    Text(String),
    /// A placeholder by its name.
    Name(&'static str),
    /// Lines of documentation, each of which begins as told.
    Lines {
        name: &'static str,
        begin: String,
    },
    /// All rows, with so many line breaks between them.
    Rows {
        place: usize,
        gap: usize,
    },
}

impl Layout {
    /// What files must have in common to share a layout.
    pub(super) fn shape(file: &Bindings) -> Shape {
        shape(file).chain([file.rows().is_some()]).collect()
    }

    /// Prints the skeleton for files of the shape of this one.
    pub(super) fn new(skeleton: &Skeleton, package: &Bindings, file: &Bindings) -> Self {
        let row = file.rows().and_then(|(list, rows)| Some((list, &**rows.first()?)));
        Self { pieces: printed(skeleton, package, file, row).0, rows: BTreeMap::new() }
    }

    /// Puts the names in.
    pub(super) fn print(
        &mut self,
        skeleton: &Skeleton,
        header: &str,
        package: &Bindings,
        file: &Bindings,
    ) -> String {
        let (list, rows) = file.rows().unwrap_or_default();
        for row in rows {
            let print = || printed(skeleton, package, file, Some((list, row))).1;
            self.rows.entry(shape(row).collect()).or_insert_with(print);
        }
        let shapes: Vec<Shape> = rows.iter().map(|row| shape(row).collect()).collect();
        let mut out = String::with_capacity(16 * 1024);
        out.push_str(header);
        for piece in &self.pieces {
            let Piece::Rows { place, gap } = piece else {
                piece.print(&[file, package], &mut out);
                continue;
            };
            for (at, (row, shape)) in rows.iter().zip(&shapes).enumerate() {
                if at > 0 {
                    out.extend(std::iter::repeat_n('\n', *gap));
                }
                let pieces = self.rows[shape].get(*place).into_iter().flatten();
                pieces.for_each(|piece| piece.print(&[row, file, package], &mut out));
            }
        }
        out
    }
}

impl Piece {
    /// Puts the names in; the first level that knows one has it.
    fn print(&self, levels: &[&Bindings], out: &mut String) {
        let value = |name: &str| match levels.iter().find_map(|level| level.get(name)) {
            Some(value) => value,
            None => panic!("a skeleton asks for `{name}`, which nothing binds"),
        };
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Name(name) => out.push_str(value(name)),
            Self::Lines { name, begin } => {
                for (at, line) in value(name).lines().enumerate() {
                    match (at, line) {
                        (0, line) => out.push_str(line),
                        (_, "") => out.extend(["\n", begin]),
                        (_, line) => out.extend(["\n", begin, " ", line]),
                    }
                }
            }
            Self::Rows { .. } => {}
        }
    }
}

fn shape(bindings: &Bindings) -> impl Iterator<Item = bool> {
    let has_text = |(name, _): &(&str, char)| bindings.get(name).is_some_and(|text| !text.is_empty());
    let flags = bindings.flags().iter().map(|(_, set)| *set);
    flags.chain(LINES.iter().map(has_text).collect::<Vec<_>>()).chain([has_long_item(bindings)])
}

fn has_long_item(bindings: &Bindings) -> bool {
    bindings.get(LONG_ITEM.0).is_some_and(|path| path.len() > SHORT_ITEM)
}

/// The pieces of a file, and those of a row at each of the places where the list stands.
fn printed(
    skeleton: &Skeleton,
    package: &Bindings,
    file: &Bindings,
    row: Option<(&'static str, &Bindings)>,
) -> (Vec<Piece>, Vec<Vec<Piece>>) {
    let mut named = stand_ins(file);
    if let Some((list, row)) = row {
        let row = Arc::new(stand_ins(row));
        named = named.list(list, vec![Arc::clone(&row), row]);
    }
    cut(&crate::format::rust("", &skeleton.fill_marked(&[package, &named])))
}

/// Bindings of the same shape, in which letters stand for the texts.
fn stand_ins(bindings: &Bindings) -> Bindings {
    // The first of a name counts.
    let long = has_long_item(bindings).then_some(&LONG_ITEM);
    let named =
        long.into_iter().chain(&STAND_INS).fold(bindings.only_flags(), |named, (name, letter, width)| {
            named.text(name, letter.to_string().repeat(*width))
        });
    LINES.iter().fold(named, |named, (name, letter)| {
        let has_text = bindings.get(name).is_some_and(|text| !text.is_empty());
        named.text(name, if has_text { letter.to_string() } else { String::new() })
    })
}

/// Takes rows and stand-ins out of a text in which every list has two rows that are alike. The first shows what stands between
/// rows, the second ends where the list ends.
fn cut(text: &str) -> (Vec<Piece>, Vec<Vec<Piece>>) {
    let (mut frame, mut rows) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((before, first)) = split_at_mark(rest, 0) {
        let Some((row, second)) = split_at_mark(first, 1) else { break };
        let content = row.trim_end_matches('\n').len() + 1;
        frame.extend(pieces(before));
        frame.push(Piece::Rows { place: rows.len(), gap: row.len() - content });
        rows.push(pieces(&row[..content]));
        rest = &second[content..];
    }
    frame.extend(pieces(rest));
    (frame, rows)
}

/// What is before and behind the line with the mark.
fn split_at_mark(text: &str, row: u8) -> Option<(&str, &str)> {
    let at = text.find(row_mark(row))?;
    let begin = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
    Some((&text[..begin], &text[end..]))
}

/// Takes the stand-ins out of a printed text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !c.is_ascii()) {
        let before = &rest[..at];
        pieces.push(Piece::Text(before.to_owned()));
        rest = &rest[at..];
        let name = STAND_INS.iter().chain([&LONG_ITEM]).find_map(|(name, letter, width)| {
            let width = width * letter.len_utf8();
            rest.starts_with(*letter).then_some((Piece::Name(name), width))
        });
        let lines = LINES.iter().find_map(|(name, letter)| {
            let begin = before.rsplit('\n').next().unwrap_or_default().trim_end().to_owned();
            rest.starts_with(*letter).then_some((Piece::Lines { name, begin }, letter.len_utf8()))
        });
        let literal = || rest.chars().next().map(|c| (Piece::Text(c.to_string()), c.len_utf8()));
        let Some((piece, width)) = name.or(lines).or_else(literal) else { break };
        pieces.push(piece);
        rest = &rest[width..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces
}
