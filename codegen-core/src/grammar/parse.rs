//! Parses attributes against the table. It reports every separate error and continues at the next comma.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::{Attribute, MacroDelimiter, Meta};

use super::literal::{self, flatten, is_punct, split_at_commas};
use super::marker::{self, Definition, ItemAttributes, MarkerLine, Written};
use super::{FAMILIES, Family, KeySpec, MODULE, Place, Value};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::names::closest;

/// The attributes of one family on one item.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The place of the first attribute, if there is one.
    pub span: Option<Span>,
    /// The keys, in source order, over all attributes of the family.
    pub entries: Vec<Entry>,
    /// Keys that misspelt ones resemble.
    pub(crate) meant: Vec<&'static str>,
}

impl Parsed {
    /// The place of the key, if it has a valid value.
    pub fn given(&self, name: &str) -> Option<Span> {
        self.get(name).and_then(Entry::given)
    }

    /// The first key other than `required` and `optional`.
    pub(crate) fn beyond_presence(&self) -> Option<Span> {
        self.entries.iter().find(|entry| !matches!(entry.key.name, "required" | "optional")).map(|e| e.span)
    }

    /// The first entry of that key.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.name == name)
    }
}

/// A key that was given.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key's row in the table.
    pub key: &'static KeySpec,
    /// The place of the key's name.
    pub span: Span,
    /// The value, of the row's shape, or [`Value::Invalid`].
    pub value: Value,
    /// The marker that set it; `None`: a key of an attribute.
    pub marker: Option<&'static Definition>,
}

impl Entry {
    /// The place of the key, unless its value is invalid: then it counts as absent, so that one error does
    /// not cause others.
    pub fn given(&self) -> Option<Span> {
        if matches!(self.value, Value::Invalid) { None } else { Some(self.span) }
    }
}

/// Parses all attributes and markers of a family on an item.
///
/// Errors go to `diagnostics`; valid entries are returned in any case.
pub fn parse_attributes(
    family: Family,
    item: &ItemAttributes<'_>,
    place: Place,
    diagnostics: &mut Diagnostics,
) -> Parsed {
    let spec = family.spec();
    let mut parsed = Parsed { span: None, entries: Vec::new(), meant: Vec::new() };
    let markers = markers(family, item);
    // Most items have no attribute of most families.
    if markers.is_empty() && !item.attributes.iter().any(|it| it.path().is_ident(family.name())) {
        return parsed;
    }
    let owner = Owner { name: format!("#[{}]", family.name()), keys: spec.keys };
    let mut parser = Parser { family, place, diagnostics, meant: Vec::new(), depth: 0 };
    let mut markers = markers.into_iter().peekable();
    for (index, attribute) in item.attributes.iter().enumerate() {
        while let Some((_, line, definition)) = markers.next_if(|(at, ..)| *at == index) {
            let (name, range) = line.name();
            parsed.span.get_or_insert(line.span(range.start - 1..range.start + name.len()));
            parser.marker(line, definition, &owner, &mut parsed.entries);
        }
        if !attribute.path().is_ident(family.name()) {
            continue;
        }
        let span = attribute.path().get_ident().map_or_else(Span::call_site, Ident::span);
        parsed.span.get_or_insert(span);
        if !spec.places.contains(place) {
            let message = format!("{} cannot stand on {}", owner.name, place.describe());
            let help = format!("it belongs on {}", spec.places.describe());
            parser.error(Code::WRONG_PLACE, span, message, help);
            continue;
        }
        parser.attribute(attribute, span, &owner, &mut parsed.entries);
    }
    if let Some(span) = parsed.span.filter(|_| !parsed.entries.is_empty()) {
        parser.require_keys(&owner, &parsed.entries, span);
    }
    parsed.meant = parser.meant;
    parsed
}

/// Parses each attribute and each marker of a family that [stands alone](Family::stands_alone) separately.
///
/// Errors go to `diagnostics`; valid entries are returned in any case.
pub fn parse_each(
    family: Family,
    item: &ItemAttributes<'_>,
    place: Place,
    diagnostics: &mut Diagnostics,
) -> Vec<Parsed> {
    let mut out = Vec::new();
    let mut markers = markers(family, item).into_iter().peekable();
    for (index, attribute) in item.attributes.iter().enumerate() {
        while let Some((_, line, definition)) = markers.next_if(|(at, ..)| *at == index) {
            out.push(parse_marker(family, line, definition, place, diagnostics));
        }
        if attribute.path().is_ident(family.name()) {
            let alone = ItemAttributes { attributes: std::slice::from_ref(attribute), lines: Vec::new() };
            out.push(parse_attributes(family, &alone, place, diagnostics));
        }
    }
    out
}

fn parse_marker(
    family: Family,
    line: &MarkerLine,
    definition: &'static Definition,
    place: Place,
    diagnostics: &mut Diagnostics,
) -> Parsed {
    let (name, range) = line.name();
    let span = line.span(range.start - 1..range.start + name.len());
    let owner = Owner { name: format!("`+{}`", definition.name), keys: family.spec().keys };
    let mut parser = Parser { family, place, diagnostics, meant: Vec::new(), depth: 0 };
    let mut entries = Vec::new();
    parser.marker_alone(line, definition, &owner, &mut entries);
    Parsed { span: Some(span), entries, meant: parser.meant }
}

/// The markers of a family, each with the index of its attribute.
fn markers<'a>(
    family: Family,
    item: &'a ItemAttributes<'_>,
) -> Vec<(usize, &'a MarkerLine, &'static Definition)> {
    let found = item.markers().filter_map(|(index, line)| {
        let definition = marker::find(line.name().0)?;
        (definition.target.family() == Some(family)).then_some((index, line, definition))
    });
    found.collect()
}

/// Parses the markers in the documentation of a module.
pub fn parse_module(item: &ItemAttributes<'_>, diagnostics: &mut Diagnostics) -> Parsed {
    let mut parsed = Parsed { span: None, entries: Vec::new(), meant: Vec::new() };
    let mut parser =
        Parser { family: Family::Resource, place: Place::Root, diagnostics, meant: Vec::new(), depth: 0 };
    for (_, line) in item.markers() {
        let (name, _) = line.name();
        let definition = marker::find(name);
        let key = MODULE.iter().find(|key| key.markers.contains(&name));
        match (definition, key) {
            (Some(definition), Some(key)) => parser.module_marker(line, definition, key, &mut parsed.entries),
            // These are read in any place.
            (Some(definition), None) if definition.target.family().is_some_and(Family::stands_alone) => {}
            (Some(definition), None) => parser.diagnostics.push(marker::not_of_modules(line, definition)),
            (None, _) => parser.diagnostics.push(marker::other(line)),
        }
    }
    parsed
}

/// Reads the example of a key, which is valid, as a test checks.
pub(super) fn parse_example(key: &'static KeySpec, diagnostics: &mut Diagnostics) -> Option<Entry> {
    let place = if key.places.contains(Place::Root) { Place::Root } else { Place::Field };
    let mut parser = Parser { family: Family::Resource, place, diagnostics, meant: Vec::new(), depth: 0 };
    let owner = Owner { name: String::new(), keys: std::slice::from_ref(key) };
    let mut entries = Vec::new();
    parser.keys(key.example.parse().ok()?, &owner, &mut entries);
    entries.pop()
}

/// The key with the constraints of a list's items.
const ITEMS: &str = "items";

/// The owner of a key: an attribute or an enclosing key.
pub(super) struct Owner {
    /// Its name in messages: `#[resource]`, `print_column(...)`.
    pub(super) name: String,
    pub(super) keys: &'static [KeySpec],
}

/// The argument of a key.
pub(super) enum Argument {
    Nothing,
    /// `= tokens`
    Value(Vec<TokenTree>),
    /// `(tokens)`
    List(Group),
}

pub(super) struct Parser<'a> {
    pub(super) family: Family,
    pub(super) place: Place,
    pub(super) diagnostics: &'a mut Diagnostics,
    /// Keys that misspelt ones resemble, which are not also reported as missing.
    pub(super) meant: Vec<&'static str>,
    /// The number of enclosing keys.
    pub(super) depth: usize,
}

impl Parser<'_> {
    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.diagnostics.push(Diagnostic::error(code, span, message).help(help));
    }

    fn attribute(&mut self, attribute: &Attribute, span: Span, owner: &Owner, entries: &mut Vec<Entry>) {
        let spec = self.family.spec();
        let name = self.family.name();
        let sample = spec.keys.first().map_or("", |key| key.example);
        match &attribute.meta {
            Meta::Path(_) if spec.bare => {}
            Meta::Path(_) => {
                self.error(
                    Code::MALFORMED_ATTRIBUTE,
                    span,
                    format!("#[{name}] needs keys"),
                    format!("write #[{name}({sample})]"),
                );
            }
            Meta::List(list) if matches!(list.delimiter, MacroDelimiter::Paren(_)) => {
                if list.tokens.is_empty() && !spec.bare {
                    let help = format!("write #[{name}({sample})], or remove the attribute");
                    self.error(Code::MALFORMED_ATTRIBUTE, span, format!("#[{name}()] has no keys"), help);
                }
                self.keys(list.tokens.clone(), owner, entries);
            }
            _ => {
                let help = match (spec.bare, spec.keys.is_empty()) {
                    (_, true) => format!("write #[{name}]"),
                    (true, false) => format!("write #[{name}] or #[{name}({sample})]"),
                    (false, false) => format!("write #[{name}({sample})]"),
                };
                self.error(
                    Code::MALFORMED_ATTRIBUTE,
                    span,
                    format!("#[{name}] takes keys in parentheses"),
                    help,
                );
            }
        }
    }

    /// Parses `key, key = value, key(...)`.
    pub(super) fn keys(&mut self, tokens: TokenStream, owner: &Owner, entries: &mut Vec<Entry>) {
        for part in split_at_commas(flatten(tokens), self.diagnostics) {
            self.key(part, owner, entries);
        }
    }

    /// Parses one key with its argument, up to the comma.
    fn key(&mut self, part: Vec<TokenTree>, owner: &Owner, entries: &mut Vec<Entry>) {
        let mut tokens = part.into_iter();
        let ident = match tokens.next() {
            Some(TokenTree::Ident(ident)) => ident,
            Some(other) => {
                let message = format!("expected a key of {}", owner.name);
                return self.error(
                    Code::MALFORMED_ATTRIBUTE,
                    other.span(),
                    message,
                    "write `key`, `key = value` or `key(...)`",
                );
            }
            None => return,
        };
        let name = ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        let rest: Vec<TokenTree> = tokens.collect();
        let (argument, rest) = self.argument(&name, &ident, rest).unwrap_or_default();
        self.entry(&name, &ident, argument, owner, entries);
        // Tokens after a complete key lack their comma. Continue with them.
        if let Some(next) = rest.first() {
            let message = format!("expected a comma after `{name}`");
            self.error(Code::MALFORMED_ATTRIBUTE, next.span(), message, "separate keys with commas");
            if matches!(next, TokenTree::Ident(_)) {
                self.key(rest, owner, entries);
            }
        }
    }

    /// Splits the tokens after a key into its argument and the rest. The argument is `None` after a
    /// diagnostic.
    fn argument(
        &mut self,
        name: &str,
        ident: &Ident,
        rest: Vec<TokenTree>,
    ) -> Option<(Option<Argument>, Vec<TokenTree>)> {
        match rest.first() {
            None => Some((Some(Argument::Nothing), rest)),
            Some(TokenTree::Ident(_)) => Some((Some(Argument::Nothing), rest)),
            Some(TokenTree::Group(group))
                if matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Brace) =>
            {
                let group = group.clone();
                Some((Some(Argument::List(group)), rest.into_iter().skip(1).collect()))
            }
            Some(token) if is_punct(token, '=') => {
                let mut value: Vec<TokenTree> = rest.into_iter().skip(1).collect();
                if value.is_empty() {
                    let message = format!("a value is missing after `{name} =`");
                    self.error(
                        Code::MALFORMED_ATTRIBUTE,
                        ident.span(),
                        message,
                        "write a literal after the `=`",
                    );
                    return None;
                }
                let rest = value.split_off(literal::value_length(&value));
                if rest.first().is_some_and(|token| !matches!(token, TokenTree::Ident(_))) {
                    self.diagnostics.push(literal::not_a_literal(value[0].span()));
                    return None;
                }
                Some((Some(Argument::Value(value)), rest))
            }
            Some(token) => {
                let span = token.span();
                let help = if is_punct(token, ':') {
                    format!("write `{name} = ...`")
                } else {
                    format!("write `{name}`, `{name} = ...` or `{name}(...)`")
                };
                self.error(Code::MALFORMED_ATTRIBUTE, span, format!("unexpected token after `{name}`"), help);
                None
            }
        }
    }

    fn entry(
        &mut self,
        name: &str,
        ident: &Ident,
        argument: Option<Argument>,
        owner: &Owner,
        entries: &mut Vec<Entry>,
    ) {
        let Some(key) = owner.keys.iter().find(|key| key.name == name) else {
            return self.unknown_key(name, ident, owner);
        };
        if !key.places.contains(self.place) {
            let message = format!("`{name}` cannot stand on {}", self.place.describe());
            let help = format!("it belongs on {}", key.places.describe());
            return self.error(Code::WRONG_PLACE, ident.span(), message, help);
        }
        let value = argument.and_then(|argument| self.value(key, ident, argument));
        self.add(Written::attribute(key), ident.span(), value, owner, entries);
    }

    /// Adds an entry. Reports a repeated key that must be unique, in either notation.
    pub(super) fn add(
        &mut self,
        written: Written,
        span: Span,
        value: Option<Value>,
        owner: &Owner,
        entries: &mut Vec<Entry>,
    ) {
        let key = written.key;
        let value = value.unwrap_or(Value::Invalid);
        if written.marker.is_some_and(|marker| self.is_said(marker, key, span, &value, entries)) {
            return;
        }
        let first = entries.iter_mut().find(|entry| entry.key.name == key.name && !key.repeatable);
        match (first, value) {
            // The items' keys may be spread over several attributes.
            (Some(Entry { value: Value::Nested(known), .. }), Value::Nested(more)) if key.name == ITEMS => {
                let owner = Owner { name: format!("{ITEMS}(...)"), keys: owner.keys };
                for entry in more {
                    let written = Written { key: entry.key, marker: entry.marker };
                    self.add(written, entry.span, Some(entry.value), &owner, known);
                }
            }
            (Some(first), _) => {
                let message = match written.marker {
                    Some(_) => format!("`{}` is already set", written.name()),
                    None => format!("`{}` is given twice in {}", key.name, owner.name),
                };
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, span, message)
                    .label("given again")
                    .secondary(first.span, "first given here")
                    .help("keep one of them");
                self.diagnostics.push(diagnostic);
            }
            (None, value) => entries.push(Entry { key, span, value, marker: written.marker }),
        }
    }

    fn unknown_key(&mut self, name: &str, ident: &Ident, owner: &Owner) {
        let names = owner.keys.iter().map(|key| key.name);
        let other_spelling = owner.keys.iter().find(|key| key.also.iter().any(|also| same_word(also, name)));
        let elsewhere = FAMILIES.iter().find(|family| {
            family.family != self.family
                && family.places.contains(self.place)
                && family.keys.iter().any(|key| key.name == name && key.places.contains(self.place))
        });
        let help = if let Some(key) = other_spelling {
            self.meant.push(key.name);
            format!("did you mean `{}`? For example: {}", key.name, key.example)
        } else if let Some(family) = elsewhere {
            format!("`{name}` is a key of #[{}]", family.family.name())
        } else if let Some(near) = closest(name, names.clone()) {
            self.meant.push(near);
            format!("did you mean `{near}`?")
        } else if owner.keys.is_empty() {
            format!("{} takes no keys", owner.name)
        } else {
            format!("the keys are {}", names.collect::<Vec<_>>().join(", "))
        };
        self.error(Code::UNKNOWN_KEY, ident.span(), format!("unknown key `{name}` in {}", owner.name), help);
    }

    pub(super) fn require_keys(&mut self, owner: &Owner, entries: &[Entry], span: Span) {
        for key in owner.keys.iter().filter(|key| key.required) {
            let meant = self.meant.contains(&key.name);
            if !meant && !entries.iter().any(|entry| entry.key.name == key.name) {
                let message = format!("{} needs the key `{}`", owner.name, key.name);
                self.error(Code::MISSING_KEY, span, message, format!("add {}", key.example));
            }
        }
    }
}

fn same_word(a: &str, b: &str) -> bool {
    let plain = |s: &str| s.replace('_', "").to_lowercase();
    plain(a) == plain(b)
}
