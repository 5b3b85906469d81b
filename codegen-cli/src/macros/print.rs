//! Prints tokens as text, with the location of each.

use super::fragment::Fragment;
use super::tree::{Tree, crate_name};
use crate::source::{Loc, Piece};

/// The text of tokens.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Its tokens in order.
    pub pieces: Vec<Piece>,
}

/// The text of the tokens.
pub fn print(trees: &[Tree]) -> Printed {
    let mut out = Printed::default();
    out.trees(trees);
    out
}

impl Printed {
    fn trees(&mut self, trees: &[Tree]) {
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                Tree::Group(delimiter, inner, open, close) => {
                    let (before, after) = delimiter.texts();
                    self.token(before, *open);
                    self.trees(inner);
                    self.token(after, *close);
                }
                Tree::Fragment(kind, inner) => {
                    let is_alone = at.checked_sub(1).is_none_or(|before| ends_before(&trees[before]))
                        && trees.get(at + 1).is_none_or(ends_after);
                    match tree.loc().filter(|_| !is_alone && is_open(*kind, inner)) {
                        Some(loc) => {
                            self.token("(", loc);
                            self.trees(inner);
                            self.token(")", loc);
                        }
                        None => self.trees(inner),
                    }
                }
                Tree::Crate(krate, loc) => self.token(&crate_name(*krate), *loc),
                Tree::Ident(text, loc)
                | Tree::Punct(text, loc)
                | Tree::Lifetime(text, loc)
                | Tree::Literal(text, loc) => self.token(text, *loc),
            }
        }
    }

    fn token(&mut self, text: &str, loc: Loc) {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let start = byte(self.text.len());
        self.text.push_str(text);
        self.pieces.push(Piece { start, end: byte(self.text.len()), loc });
        self.text.push(' ');
    }
}

/// Whether the fragment could bind to its neighbours: `$a * 2` of `1 + 1`.
fn is_open(kind: Fragment, trees: &[Tree]) -> bool {
    match kind {
        Fragment::Expr => {
            trees.len() > 1 && trees.iter().any(|tree| matches!(tree, Tree::Punct(text, _) if text != "::"))
        }
        Fragment::Ty => trees.iter().any(|tree| tree.is_punct("+")),
        _ => false,
    }
}

fn ends_before(tree: &Tree) -> bool {
    [",", ";", "=", "=>", ":"].iter().any(|text| tree.is_punct(text))
}

fn ends_after(tree: &Tree) -> bool {
    [",", ";", "=>"].iter().any(|text| tree.is_punct(text))
}
