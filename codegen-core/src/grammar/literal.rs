//! Parses literals in attributes: single ones, lists and objects, written like JSON.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use syn::parse::Parser as _;
use syn::{Lit, Path};

use super::{Json, KeySpec, Number, Spanned};
use crate::diag::{Code, Diagnostic, Diagnostics};

/// Deepest nesting of lists and objects, which no schema exceeds; more would overflow the stack.
pub(super) const MAX_DEPTH: usize = 64;

/// The tokens without the invisible groups that `macro_rules!` puts around fragments.
pub(super) fn flatten(tokens: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flat.extend(flatten(group.stream()));
            }
            other => flat.push(other),
        }
    }
    flat
}

pub(super) fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}

/// The parts between commas; a trailing comma is allowed, an empty part is reported.
pub(super) fn split_at_commas(tokens: Vec<TokenTree>, diagnostics: &mut Diagnostics) -> Vec<Vec<TokenTree>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    for token in tokens {
        if !is_punct(&token, ',') {
            part.push(token);
        } else if part.is_empty() {
            let message = "expected a value before this comma";
            let diagnostic = Diagnostic::error(Code::MALFORMED_ATTRIBUTE, token.span(), message);
            diagnostics.push(diagnostic.help("remove the comma"));
        } else {
            parts.push(std::mem::take(&mut part));
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Whether the tokens begin with `ref(...)`.
fn refers(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Ident(ident), TokenTree::Group(group), ..]
        if ident == "ref" && group.delimiter() == Delimiter::Parenthesis)
}

/// The path in `ref(path)`; `None` for other tokens.
pub(super) fn reference(tokens: &[TokenTree]) -> Option<Result<Spanned<String>, Box<Diagnostic>>> {
    let [_, TokenTree::Group(group)] = tokens else { return None };
    refers(tokens).then(|| match path(&group.stream().to_string()) {
        Some(path) => Ok(Spanned::new(path, group.span())),
        None => Err(Box::new(not_a_path(group.span()))),
    })
}

/// A path without arguments, in its usual form.
pub(super) fn path(text: &str) -> Option<String> {
    // Without arguments, syn parses it without recursion.
    let path = Path::parse_mod_style.parse_str(text).ok()?;
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let root = if path.leading_colon.is_some() { "::" } else { "" };
    Some(format!("{root}{}", names.join("::")))
}

/// The argument of `ref(...)` is not a path.
fn not_a_path(span: Span) -> Diagnostic {
    Diagnostic::error(Code::MALFORMED_ATTRIBUTE, span, "`ref(...)` takes the path of a constant")
        .help("write it as in code: ref(DEFAULT_SIZE), ref(crate::defaults::SIZE)")
}

/// The number of tokens of `= tokens` in the value: two for negative numbers and references, otherwise one.
pub(super) fn value_length(tokens: &[TokenTree]) -> usize {
    match tokens {
        [minus, TokenTree::Literal(_), ..] if is_punct(minus, '-') => 2,
        tokens if refers(tokens) => 2,
        _ => tokens.len().min(1),
    }
}

/// The value is a path, a call or another expression.
pub(super) fn not_a_literal(span: Span) -> Diagnostic {
    Diagnostic::error(Code::MALFORMED_ATTRIBUTE, span, "the value is not a literal")
        .note("the source is read without running it, so constants and expressions are not evaluated")
        .help("write the value itself: a string, number, boolean, list or object")
}

/// A literal from exactly these tokens.
pub(super) fn json(tokens: &[TokenTree], depth: usize) -> Result<Spanned<Json>, Box<Diagnostic>> {
    match tokens {
        [TokenTree::Literal(literal)] => scalar(literal, false),
        [minus, TokenTree::Literal(literal)] if is_punct(minus, '-') => {
            let mut number = scalar(literal, true)?;
            number.span = minus.span().join(number.span).unwrap_or(number.span);
            Ok(number)
        }
        [TokenTree::Ident(ident)] => match ident.to_string().as_str() {
            "true" => Ok(Spanned::new(Json::Bool(true), ident.span())),
            "false" => Ok(Spanned::new(Json::Bool(false), ident.span())),
            "null" => Ok(Spanned::new(Json::Null, ident.span())),
            _ => Err(Box::new(not_a_literal(ident.span()))),
        },
        [TokenTree::Group(group)] if depth >= MAX_DEPTH => Err(Box::new(
            Diagnostic::error(Code::MALFORMED_ATTRIBUTE, group.span(), "the value is nested too deeply")
                .help(format!("at most {MAX_DEPTH} levels of lists and objects are read")),
        )),
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
            let mut items = Vec::new();
            for part in parts(group)? {
                items.push(json(&part, depth + 1)?.value);
            }
            Ok(Spanned::new(Json::Array(items), group.span()))
        }
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
            Ok(Spanned::new(Json::Object(members(group, depth)?), group.span()))
        }
        [first, ..] => Err(Box::new(not_a_literal(first.span()))),
        [] => Err(Box::new(not_a_literal(Span::call_site()))),
    }
}

/// Like [`split_at_commas`] for one literal, which is valid as a whole or not at all.
fn parts(group: &Group) -> Result<Vec<Vec<TokenTree>>, Box<Diagnostic>> {
    let mut found = Diagnostics::new();
    let parts = split_at_commas(flatten(group.stream()), &mut found);
    match found.take().into_iter().next() {
        Some(first) => Err(Box::new(first)),
        None => Ok(parts),
    }
}

fn members(group: &Group, depth: usize) -> Result<Vec<(String, Json)>, Box<Diagnostic>> {
    let mut members: Vec<(String, Json)> = Vec::new();
    for part in parts(group)? {
        let malformed = |span| {
            Box::new(
                Diagnostic::error(Code::MALFORMED_ATTRIBUTE, span, "expected a member of an object")
                    .help("write `\"name\": value`"),
            )
        };
        let (name, span) = match &part[0] {
            TokenTree::Ident(ident) => (ident.to_string(), ident.span()),
            TokenTree::Literal(literal) => match scalar(literal, false)?.value {
                Json::String(name) => (name, literal.span()),
                _ => return Err(malformed(literal.span())),
            },
            other => return Err(malformed(other.span())),
        };
        if !part.get(1).is_some_and(|token| is_punct(token, ':')) || part.len() < 3 {
            return Err(malformed(part.get(1).map_or(span, TokenTree::span)));
        }
        if members.iter().any(|(other, _)| *other == name) {
            let message = format!("the member {name:?} is given twice");
            let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, span, message).help("keep one of them");
            return Err(Box::new(diagnostic));
        }
        members.push((name, json(&part[2..], depth + 1)?.value));
    }
    Ok(members)
}

fn scalar(literal: &Literal, negative: bool) -> Result<Spanned<Json>, Box<Diagnostic>> {
    let span = literal.span();
    let other = || {
        let message = format!("`{literal}` has no counterpart in JSON");
        let diagnostic = Diagnostic::error(Code::MALFORMED_ATTRIBUTE, span, message);
        Err(Box::new(diagnostic.help("use a string, a number without suffix, `true` or `false`")))
    };
    let value = match Lit::new(literal.clone()) {
        Lit::Str(text) if !negative && text.suffix().is_empty() => Json::String(text.value()),
        Lit::Int(number) if number.suffix().is_empty() => {
            let text = format!("{}{}", if negative { "-" } else { "" }, number.base10_digits());
            match text.parse::<i64>() {
                Ok(number) => Json::Number(Number::Int(number)),
                Err(_) => {
                    let message = format!("`{text}` does not fit 64 bits");
                    let diagnostic = Diagnostic::error(Code::NUMBER_RANGE, span, message);
                    return Err(Box::new(diagnostic.help("numbers from -2^63 to 2^63 - 1 can be written")));
                }
            }
        }
        Lit::Float(number) if number.suffix().is_empty() => match number.base10_digits().parse::<f64>() {
            Ok(float) if float.is_finite() => {
                Json::Number(Number::Float(if negative { -float } else { float }))
            }
            _ => return other(),
        },
        _ => return other(),
    };
    Ok(Spanned::new(value, span))
}

/// Literals in parentheses; invalid ones are reported and left out.
pub(super) fn list(group: &Group, diagnostics: &mut Diagnostics) -> Vec<Spanned<Json>> {
    let mut items = Vec::new();
    for part in split_at_commas(flatten(group.stream()), diagnostics) {
        match json(&part, 0) {
            Ok(item) => items.push(item),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    items
}

type Pairs = Vec<(Spanned<String>, Spanned<String>)>;

/// `"name" = "value"` in parentheses; `None` after a diagnostic.
pub(super) fn string_map(group: &Group, key: &KeySpec, diagnostics: &mut Diagnostics) -> Option<Pairs> {
    let mut pairs: Pairs = Vec::new();
    let before = diagnostics.len();
    for part in split_at_commas(flatten(group.stream()), diagnostics) {
        let (name, value) = match part.as_slice() {
            [name, equals, value] if is_punct(equals, '=') => (name, value),
            _ => {
                let message = format!("`{}` takes names and strings", key.name);
                let diagnostic = Diagnostic::error(Code::WRONG_VALUE, part[0].span(), message);
                diagnostics.push(diagnostic.help(format!("write {}", key.example)));
                continue;
            }
        };
        let mut text = |token: &TokenTree| match json(std::slice::from_ref(token), 0) {
            Ok(Spanned { value: Json::String(text), span }) => Some(Spanned::new(text, span)),
            Ok(other) => {
                let message = format!("`{}` takes strings, found {}", key.name, other.value.describe());
                let diagnostic = Diagnostic::error(Code::WRONG_VALUE, other.span, message);
                diagnostics.push(diagnostic.help(format!("write {}", key.example)));
                None
            }
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                None
            }
        };
        if let (Some(name), Some(value)) = (text(name), text(value)) {
            if let Some((first, _)) = pairs.iter().find(|(other, _)| *other == name) {
                let message = format!("{:?} is given twice in `{}`", name.value, key.name);
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, name.span, message);
                diagnostics
                    .push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
            } else {
                pairs.push((name, value));
            }
        }
    }
    (diagnostics.len() == before).then_some(pairs)
}

/// The parts between commas of another crate's attribute.
pub(crate) fn split_attribute(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Vec<Vec<TokenTree>> {
    split_at_commas(flatten(tokens), diagnostics)
}
