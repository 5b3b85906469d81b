//! Reads the rules of a macro.

use super::ExpandError;
use super::fragment::Fragment;
use super::tree::{Delimiter, Tree};
use crate::source::Loc;

/// A macro by example.
#[derive(Clone, Debug)]
pub struct MacroRules {
    pub(super) rules: Vec<Rule>,
}

impl MacroRules {
    /// Whether the body of a rule has one of these names.
    pub fn mentions(&self, names: &[&str]) -> bool {
        self.rules.iter().any(|rule| Body::mention(&rule.body, names))
    }
}

/// `(matcher) => { body }`
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) matcher: Vec<Matcher>,
    pub(super) body: Vec<Body>,
}

/// A part of a matcher.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    Token(Tree),
    Group(Delimiter, Vec<Matcher>),
    /// `$name:fragment`
    Variable(String, Fragment),
    /// `$(..),*`
    Repeat(Vec<Matcher>, Option<Tree>, Operator),
}

/// A part of a body.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Token(Tree),
    Group(Delimiter, Vec<Body>, Loc, Loc),
    /// `$name`, which stays unchanged if no matcher binds it.
    Variable(String, Loc, Loc),
    /// `$crate`
    Crate(Loc),
    /// `$(..),*`
    Repeat(Vec<Body>, Option<Tree>, Operator, Loc),
}

impl Body {
    fn mention(parts: &[Self], names: &[&str]) -> bool {
        parts.iter().any(|part| match part {
            Self::Token(tree) => Tree::mention(std::slice::from_ref(tree), names),
            Self::Group(_, parts, ..) | Self::Repeat(parts, ..) => Self::mention(parts, names),
            Self::Variable(..) | Self::Crate(_) => false,
        })
    }
}

/// The number of matches of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    ZeroOrMore,
    OneOrMore,
    ZeroOrOne,
}

impl MacroRules {
    /// Reads the tokens between the braces of a definition.
    ///
    /// # Errors
    /// Returns an error for invalid rules.
    pub fn read(trees: &[Tree]) -> Result<Self, ExpandError> {
        let mut rules = Vec::new();
        let mut rest = trees;
        loop {
            rest = match rest {
                [] => return Ok(Self { rules }),
                [Tree::Group(_, matcher, ..), arrow, Tree::Group(_, body, ..), rest @ ..]
                    if arrow.is_punct("=>") =>
                {
                    rules.push(Rule { matcher: matchers(matcher)?, body: bodies(body)? });
                    match rest {
                        [] => rest,
                        [semicolon, rest @ ..] if semicolon.is_punct(";") => rest,
                        [other, ..] => {
                            return Err(ExpandError::new("rules are separated by `;`", other.loc()));
                        }
                    }
                }
                [other, ..] => {
                    return Err(ExpandError::new("a rule is `(matcher) => { body }`", other.loc()));
                }
            };
        }
    }
}

fn matchers(trees: &[Tree]) -> Result<Vec<Matcher>, ExpandError> {
    let mut out = Vec::new();
    let mut rest = trees;
    while let [first, after @ ..] = rest {
        rest = after;
        out.push(match (first, after) {
            (dollar, [Tree::Ident(name, _), colon, Tree::Ident(kind, loc), after @ ..])
                if dollar.is_punct("$") && colon.is_punct(":") =>
            {
                rest = after;
                let unknown = || ExpandError::new(format!("`{kind}` is not a fragment specifier"), *loc);
                Matcher::Variable(name.clone(), Fragment::named(kind).ok_or_else(unknown)?)
            }
            (dollar, [Tree::Ident(name, loc), ..]) if dollar.is_punct("$") && name != "crate" => {
                return Err(ExpandError::new(format!("`${name}` has no fragment specifier"), *loc));
            }
            (dollar, [Tree::Group(Delimiter::Parenthesis, inner, open, _), after @ ..])
                if dollar.is_punct("$") =>
            {
                let (separator, operator, after) = operator(after, *open)?;
                rest = after;
                let inner = matchers(inner)?;
                if separator.is_none() && inner.iter().all(may_be_empty) {
                    return Err(ExpandError::new("the repetition matches no tokens", *open));
                }
                Matcher::Repeat(inner, separator, operator)
            }
            (Tree::Group(delimiter, inner, ..), _) => Matcher::Group(*delimiter, matchers(inner)?),
            (token, _) => Matcher::Token(token.clone()),
        });
    }
    Ok(out)
}

/// Whether a part of a matcher can match no tokens, so that repeating it would never end
/// (`rustc_expand::mbe::macro_rules::is_empty_token_tree`).
fn may_be_empty(part: &Matcher) -> bool {
    matches!(
        part,
        Matcher::Variable(_, Fragment::Vis)
            | Matcher::Repeat(_, _, Operator::ZeroOrMore | Operator::ZeroOrOne)
    )
}

fn bodies(trees: &[Tree]) -> Result<Vec<Body>, ExpandError> {
    let mut out = Vec::new();
    let mut rest = trees;
    while let [first, after @ ..] = rest {
        rest = after;
        out.push(match (first, after) {
            (Tree::Punct(dollar, at), [Tree::Ident(name, loc), after @ ..]) if dollar == "$" => {
                rest = after;
                match name.as_str() {
                    "crate" => Body::Crate(*loc),
                    _ => Body::Variable(name.clone(), *at, *loc),
                }
            }
            (dollar, [Tree::Group(Delimiter::Parenthesis, inner, open, _), after @ ..])
                if dollar.is_punct("$") =>
            {
                let (separator, operator, after) = operator(after, *open)?;
                rest = after;
                Body::Repeat(bodies(inner)?, separator, operator, *open)
            }
            (dollar, [Tree::Group(Delimiter::Brace, _, open, _), ..]) if dollar.is_punct("$") => {
                return Err(ExpandError::new("expressions over variables are unstable", *open));
            }
            (Tree::Group(delimiter, inner, open, close), _) => {
                Body::Group(*delimiter, bodies(inner)?, *open, *close)
            }
            (token, _) => Body::Token(token.clone()),
        });
    }
    Ok(out)
}

/// The separator, if there is one, and the operator after `$(..)`.
fn operator(trees: &[Tree], open: Loc) -> Result<(Option<Tree>, Operator, &[Tree]), ExpandError> {
    let named = |tree: &Tree| match tree {
        Tree::Punct(text, _) => match text.as_str() {
            "*" => Some(Operator::ZeroOrMore),
            "+" => Some(Operator::OneOrMore),
            "?" => Some(Operator::ZeroOrOne),
            _ => None,
        },
        _ => None,
    };
    match trees {
        [first, rest @ ..] if named(first).is_some() => {
            Ok((None, named(first).unwrap_or(Operator::ZeroOrMore), rest))
        }
        [separator, second, rest @ ..] if !matches!(separator, Tree::Group(..)) => match named(second) {
            Some(Operator::ZeroOrOne) => {
                Err(ExpandError::new("the operator `?` takes no separator", second.loc()))
            }
            Some(operator) => Ok((Some(separator.clone()), operator, rest)),
            None => Err(ExpandError::new("a repetition ends in `*`, `+` or `?`", separator.loc())),
        },
        _ => Err(ExpandError::new("a repetition ends in `*`, `+` or `?`", open)),
    }
}
