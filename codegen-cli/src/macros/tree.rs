//! Represents tokens as macros see them: plain values that can cross threads, with operators and lifetimes as
//! single tokens.

use proc_macro2::{Delimiter as SynDelimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use super::fragment::Fragment;
use crate::source::Loc;

/// A token, or a group of them.
#[derive(Clone, Debug)]
pub enum Tree {
    /// `( .. )` and similar, with the locations of its delimiters.
    Group(Delimiter, Vec<Tree>, Loc, Loc),
    /// A name or keyword, with `r#` if written.
    Ident(String, Loc),
    /// An operator: `,`, `=>`.
    Punct(String, Loc),
    /// `'a`
    Lifetime(String, Loc),
    /// `5`, `"a"`
    Literal(String, Loc),
    /// `$crate`: the crate with this index.
    Crate(usize, Loc),
    /// The value of a variable such as `$x:ty`: one piece of syntax with any tokens.
    Fragment(Fragment, Vec<Tree>),
}

impl Tree {
    /// Whether tokens have one of these names.
    pub fn mention(trees: &[Self], names: &[&str]) -> bool {
        trees.iter().any(|tree| match tree {
            Self::Ident(name, _) => names.contains(&name.as_str()),
            Self::Group(_, trees, ..) | Self::Fragment(_, trees) => Self::mention(trees, names),
            _ => false,
        })
    }
}

/// The delimiters of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the delimiters")]
pub enum Delimiter {
    Parenthesis,
    Brace,
    Bracket,
}

impl Delimiter {
    /// The texts of the delimiters.
    pub fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Parenthesis => ("(", ")"),
            Self::Brace => ("{", "}"),
            Self::Bracket => ("[", "]"),
        }
    }

    fn syn(self) -> SynDelimiter {
        match self {
            Self::Parenthesis => SynDelimiter::Parenthesis,
            Self::Brace => SynDelimiter::Brace,
            Self::Bracket => SynDelimiter::Bracket,
        }
    }
}

/// The name for the macro's crate in code that a macro made.
pub(super) fn crate_name(krate: usize) -> String {
    format!("{CRATE_NAME}{krate}")
}

/// The crate with such a name.
pub fn crate_index(name: &str) -> Option<usize> {
    name.strip_prefix(CRATE_NAME)?.parse().ok()
}

const CRATE_NAME: &str = "__macro_crate_";

/// Operators of several characters, longest first (the Rust Reference, "Punctuation").
const OPERATORS: [&str; 26] = [
    "<<=", ">>=", "...", "..=", "&&", "||", "::", "->", "=>", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=",
    "*=", "/=", "%=", "^=", "&=", "|=", "..", "<-", "$$",
];

impl Tree {
    /// The location of its start.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            Tree::Group(_, _, loc, _)
            | Tree::Ident(_, loc)
            | Tree::Punct(_, loc)
            | Tree::Lifetime(_, loc)
            | Tree::Literal(_, loc)
            | Tree::Crate(_, loc) => Some(*loc),
            Tree::Fragment(_, trees) => trees.iter().find_map(Tree::loc),
        }
    }

    /// Whether it is this operator.
    pub(super) fn is_punct(&self, text: &str) -> bool {
        matches!(self, Tree::Punct(own, _) if own == text)
    }

    /// The text of a token that is no group.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Tree::Ident(text, _)
            | Tree::Punct(text, _)
            | Tree::Lifetime(text, _)
            | Tree::Literal(text, _) => Some(text),
            Tree::Crate(..) => Some("$crate"),
            Tree::Group(..) | Tree::Fragment(..) => None,
        }
    }

    /// Whether a matcher treats two tokens as equal.
    pub(super) fn is_same_token(&self, other: &Self) -> bool {
        match (self, other) {
            (Tree::Ident(a, _), Tree::Ident(b, _))
            | (Tree::Punct(a, _), Tree::Punct(b, _))
            | (Tree::Lifetime(a, _), Tree::Lifetime(b, _))
            | (Tree::Literal(a, _), Tree::Literal(b, _)) => a == b,
            (Tree::Crate(a, _), Tree::Crate(b, _)) => a == b,
            _ => false,
        }
    }
}

/// The tokens of a stream; `loc` returns the locations of its spans.
pub fn trees(stream: TokenStream, loc: &impl Fn(Span) -> Loc) -> Vec<Tree> {
    let mut out = Vec::new();
    let mut tokens = stream.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let inner = trees(group.stream(), loc);
                let delimiter = match group.delimiter() {
                    SynDelimiter::Parenthesis => Delimiter::Parenthesis,
                    SynDelimiter::Brace => Delimiter::Brace,
                    SynDelimiter::Bracket => Delimiter::Bracket,
                    SynDelimiter::None => {
                        out.extend(inner);
                        continue;
                    }
                };
                out.push(Tree::Group(delimiter, inner, loc(group.span_open()), loc(group.span_close())));
            }
            TokenTree::Ident(ident) => {
                let (text, loc) = (ident.to_string(), loc(ident.span()));
                out.push(crate_index(&text).map_or(Tree::Ident(text, loc), |krate| Tree::Crate(krate, loc)));
            }
            TokenTree::Literal(literal) => out.push(Tree::Literal(literal.to_string(), loc(literal.span()))),
            TokenTree::Punct(punct) => {
                let mut chars = vec![punct];
                while chars[chars.len() - 1].spacing() == Spacing::Joint
                    && let Some(TokenTree::Punct(next)) = tokens.peek()
                {
                    chars.push(next.clone());
                    tokens.next();
                }
                let is_lifetime = chars.last().is_some_and(|last| last.as_char() == '\'');
                let quote = if is_lifetime { chars.pop() } else { None };
                operators(&chars, loc, &mut out);
                if let (Some(quote), Some(TokenTree::Ident(name))) = (quote, tokens.peek()) {
                    out.push(Tree::Lifetime(format!("'{name}"), loc(quote.span()).to(loc(name.span()))));
                    tokens.next();
                }
            }
        }
    }
    out
}

/// Joins the characters of operators as rustc's lexer does: the longest first.
fn operators(chars: &[Punct], loc: &impl Fn(Span) -> Loc, out: &mut Vec<Tree>) {
    let text: String = chars.iter().map(Punct::as_char).collect();
    let mut at = 0;
    while at < chars.len() {
        let rest = &text[at..];
        let length = OPERATORS.iter().find(|operator| rest.starts_with(**operator)).map_or(1, |it| it.len());
        let place = loc(chars[at].span()).to(loc(chars[at + length - 1].span()));
        out.push(Tree::Punct(rest[..length].to_string(), place));
        at += length;
    }
}

/// The tokens for syn. Their spans are meaningless; the trees have the locations.
pub(super) fn stream(trees: &[Tree]) -> TokenStream {
    let mut out = TokenStream::new();
    for tree in trees {
        match tree {
            Tree::Group(delimiter, inner, ..) => {
                out.extend([TokenTree::Group(Group::new(delimiter.syn(), stream(inner)))]);
            }
            Tree::Fragment(_, inner) => {
                out.extend([TokenTree::Group(Group::new(SynDelimiter::None, stream(inner)))]);
            }
            Tree::Ident(text, _) => out.extend([TokenTree::Ident(ident(text))]),
            Tree::Crate(krate, _) => out.extend([TokenTree::Ident(ident(&crate_name(*krate)))]),
            Tree::Punct(text, _) => out.extend(puncts(text)),
            Tree::Lifetime(text, _) => {
                out.extend([TokenTree::Punct(Punct::new('\'', Spacing::Joint))]);
                out.extend([TokenTree::Ident(ident(&text[1..]))]);
            }
            Tree::Literal(text, _) => {
                // The text is that of a literal, so it parses as one.
                let literal = text.parse::<TokenStream>();
                out.extend(literal.unwrap_or_default());
            }
        }
    }
    out
}

fn ident(text: &str) -> Ident {
    match text.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()),
        None => Ident::new(text, Span::call_site()),
    }
}

fn puncts(text: &str) -> impl Iterator<Item = TokenTree> + '_ {
    let last = text.len().saturating_sub(1);
    text.char_indices().map(move |(at, c)| {
        let spacing = if at < last { Spacing::Joint } else { Spacing::Alone };
        TokenTree::Punct(Punct::new(c, spacing))
    })
}

/// The number of trees with the first `tokens` tokens of [`stream`], and of used characters of the operator
/// after them: `>` of `>>`.
pub(super) fn covered(trees: &[Tree], tokens: usize) -> (usize, usize) {
    let mut left = tokens;
    for (at, tree) in trees.iter().enumerate() {
        let length = match tree {
            Tree::Punct(text, _) => text.len(),
            Tree::Lifetime(..) => 2,
            Tree::Literal(text, _) if text.starts_with('-') => 2,
            _ => 1,
        };
        if left < length {
            return (at, left);
        }
        left -= length;
    }
    (trees.len(), 0)
}
