//! Implements fragment specifiers: the tokens that a fragment may begin with, and its length.

use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser as _};
use syn::{Block, Expr, Ident, Item, Meta, Pat, Path, Token, Type, Visibility};

use super::tree::{Delimiter, Tree, covered, stream};

/// `ty` of `$x:ty`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the specifiers")]
pub enum Fragment {
    Block,
    Expr,
    Ident,
    Item,
    Lifetime,
    Literal,
    Meta,
    Pat,
    PatParam,
    Path,
    Stmt,
    Tt,
    Ty,
    Vis,
}

/// The number of trees that syn gets first. A longer fragment doubles the number, so that no attempt parses
/// the whole rest.
const WINDOW: usize = 32;

impl Fragment {
    /// The specifier with this name. Editions differ in `expr` and `pat`; the newest is the most permissive.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "block" => Self::Block,
            "expr" | "expr_2021" => Self::Expr,
            "ident" => Self::Ident,
            "item" => Self::Item,
            "lifetime" => Self::Lifetime,
            "literal" => Self::Literal,
            "meta" => Self::Meta,
            "pat" => Self::Pat,
            "pat_param" => Self::PatParam,
            "path" => Self::Path,
            "stmt" => Self::Stmt,
            "tt" => Self::Tt,
            "ty" => Self::Ty,
            "vis" => Self::Vis,
            _ => return None,
        })
    }

    /// The fragment in words, for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Block => "a block",
            Self::Expr => "an expression",
            Self::Ident => "an identifier",
            Self::Item => "an item",
            Self::Lifetime => "a lifetime",
            Self::Literal => "a literal",
            Self::Meta => "the content of an attribute",
            Self::Pat | Self::PatParam => "a pattern",
            Self::Path => "a path",
            Self::Stmt => "a statement",
            Self::Tt => "a token tree",
            Self::Ty => "a type",
            Self::Vis => "a visibility",
        }
    }

    /// Whether other macros can match its tokens.
    pub(super) fn is_transparent(self) -> bool {
        matches!(self, Self::Ident | Self::Lifetime | Self::Tt)
    }

    /// Whether the fragment may begin with the token, as rustc checks before it parses one
    /// (`rustc_parse::parser::nonterminal`).
    pub(super) fn may_begin(self, tree: &Tree) -> bool {
        if let Tree::Fragment(kind, _) = tree {
            return match self {
                Self::Ident | Self::Lifetime => false,
                Self::Literal => matches!(kind, Self::Literal),
                Self::Block => matches!(kind, Self::Block),
                Self::Path | Self::Meta => matches!(kind, Self::Path | Self::Meta | Self::Ty),
                Self::Expr => matches!(kind, Self::Expr | Self::Literal | Self::Path | Self::Block),
                Self::Ty => matches!(kind, Self::Ty | Self::Path),
                Self::Pat | Self::PatParam => {
                    matches!(kind, Self::Pat | Self::PatParam | Self::Literal | Self::Path | Self::Expr)
                }
                Self::Item | Self::Stmt | Self::Tt | Self::Vis => true,
            };
        }
        match self {
            Self::Ident => is_ident(tree),
            Self::Lifetime => matches!(tree, Tree::Lifetime(..)),
            Self::Literal => is_literal(tree) || tree.is_punct("-"),
            Self::Block => matches!(tree, Tree::Group(Delimiter::Brace, ..)),
            Self::Path | Self::Meta => {
                matches!(tree, Tree::Ident(..) | Tree::Crate(..)) || tree.is_punct("::")
            }
            Self::Expr => begins_expression(tree),
            Self::Ty => begins_type(tree),
            Self::Vis => {
                matches!(tree, Tree::Ident(..) | Tree::Crate(..)) || tree.is_punct(",") || begins_type(tree)
            }
            Self::Pat | Self::PatParam => begins_pattern(tree) || self == Self::Pat && tree.is_punct("|"),
            Self::Item | Self::Stmt | Self::Tt => true,
        }
    }

    /// The number of trees in the fragment, and of further characters of the operator after them.
    ///
    /// # Errors
    /// Returns the reason why the trees do not begin with such a fragment.
    pub(super) fn length(self, trees: &[Tree]) -> Result<(usize, usize), String> {
        let expected = || format!("expected {}", self.words());
        if let [Tree::Fragment(kind, _), ..] = trees
            && *kind == self
        {
            return Ok((1, 0));
        }
        match self {
            Self::Tt | Self::Ident | Self::Lifetime | Self::Block => Ok((1, 0)),
            Self::Literal => match trees {
                [first, ..] if is_literal(first) || matches!(first, Tree::Fragment(..)) => Ok((1, 0)),
                [minus, Tree::Literal(..), ..] if minus.is_punct("-") => Ok((2, 0)),
                _ => Err(expected()),
            },
            Self::Stmt if matches!(trees, [Tree::Ident(first, _), ..] if first == "let") => {
                Ok((trees.iter().position(|tree| tree.is_punct(";")).unwrap_or(trees.len()), 0))
            }
            _ => self.parsed(trees),
        }
    }

    /// Parses the fragment with syn.
    fn parsed(self, trees: &[Tree]) -> Result<(usize, usize), String> {
        let mut window = WINDOW.min(trees.len());
        loop {
            let given = stream(&trees[..window]);
            let all = given.clone().into_iter().count();
            let left = |input: ParseStream<'_>| {
                self.parse(input)?;
                Ok(input.parse::<proc_macro2::TokenStream>()?.into_iter().count())
            };
            let result = left.parse2(given);
            let is_whole = window == trees.len();
            match result {
                // A lookahead may have reached the end of the window.
                Ok(left) if is_whole || left > 4 => return Ok(covered(trees, all - left)),
                Err(error) if is_whole => return Err(format!("expected {}: {error}", self.words())),
                _ => window = (window * 2).min(trees.len()),
            }
        }
    }

    fn parse(self, input: ParseStream<'_>) -> syn::Result<()> {
        match self {
            Self::Block => input.parse::<Block>().map(drop),
            Self::Expr => input.parse::<Expr>().map(drop),
            Self::Ident | Self::Tt | Self::Literal | Self::Lifetime => input.call(Ident::parse_any).map(drop),
            Self::Item => input.parse::<Item>().map(drop),
            Self::Meta => input.parse::<Meta>().map(drop),
            Self::Pat => input.call(Pat::parse_multi_with_leading_vert).map(drop),
            Self::PatParam => input.call(Pat::parse_single).map(drop),
            Self::Path => input.parse::<Path>().map(drop),
            Self::Stmt => {
                let is_item = input.fork().parse::<Item>().is_ok() && !input.peek2(Token![!]);
                if is_item { input.parse::<Item>().map(drop) } else { input.parse::<Expr>().map(drop) }
            }
            Self::Ty => input.parse::<Type>().map(drop),
            Self::Vis => input.parse::<Visibility>().map(drop),
        }
    }
}

fn is_ident(tree: &Tree) -> bool {
    matches!(tree, Tree::Ident(text, _) if text != "_") || matches!(tree, Tree::Crate(..))
}

fn is_literal(tree: &Tree) -> bool {
    matches!(tree, Tree::Literal(..))
        || matches!(tree, Tree::Ident(text, _) if text == "true" || text == "false")
}

/// Whether an identifier is reserved and cannot be a segment of a path (`Ident::is_reserved` of rustc).
fn is_keyword(text: &str) -> bool {
    !matches!(text, "self" | "Self" | "super" | "crate" | "union" | "default" | "auto" | "raw")
        && kubesmith_core::names::is_keyword(text)
}

fn begins_expression(tree: &Tree) -> bool {
    const KEYWORDS: [&str; 21] = [
        "async", "do", "box", "break", "const", "continue", "false", "for", "gen", "if", "loop", "match",
        "move", "return", "true", "try", "unsafe", "while", "yield", "static", "builtin",
    ];
    const OPERATORS: [&str; 14] =
        ["!", "-", "*", "|", "||", "&", "&&", "..", "...", "..=", "<", "<<", "::", "#"];
    match tree {
        Tree::Ident(text, _) => text != "_" && !is_keyword(text) || KEYWORDS.contains(&text.as_str()),
        Tree::Punct(text, _) => OPERATORS.contains(&text.as_str()),
        Tree::Group(..) | Tree::Literal(..) | Tree::Lifetime(..) | Tree::Crate(..) | Tree::Fragment(..) => {
            true
        }
    }
}

fn begins_type(tree: &Tree) -> bool {
    const KEYWORDS: [&str; 7] = ["for", "impl", "fn", "unsafe", "extern", "dyn", "typeof"];
    const OPERATORS: [&str; 8] = ["!", "*", "&", "&&", "?", "<", "<<", "::"];
    match tree {
        Tree::Ident(text, _) => !is_keyword(text) || KEYWORDS.contains(&text.as_str()),
        Tree::Punct(text, _) => OPERATORS.contains(&text.as_str()),
        Tree::Group(delimiter, ..) => *delimiter != Delimiter::Brace,
        Tree::Lifetime(..) | Tree::Crate(..) | Tree::Fragment(..) => true,
        Tree::Literal(..) => false,
    }
}

fn begins_pattern(tree: &Tree) -> bool {
    const KEYWORDS: [&str; 7] = ["box", "mut", "ref", "true", "false", "const", "_"];
    const OPERATORS: [&str; 9] = ["&", "&&", "-", "..", "...", "..=", "::", "<", "<<"];
    match tree {
        Tree::Ident(text, _) => !is_keyword(text) || KEYWORDS.contains(&text.as_str()),
        Tree::Punct(text, _) => OPERATORS.contains(&text.as_str()),
        Tree::Group(delimiter, ..) => *delimiter != Delimiter::Brace,
        Tree::Literal(..) | Tree::Crate(..) | Tree::Fragment(..) => true,
        Tree::Lifetime(..) => false,
    }
}
