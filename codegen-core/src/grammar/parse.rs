//! Parses attributes against the table. It reports every mistake it can tell apart and goes on at
//! the next comma.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::{Attribute, MacroDelimiter, Meta};

use super::literal::{self, flatten, is_punct, split_at_commas};
use super::{FAMILIES, Family, KeySpec, Place, Shape, Spanned, Value, closest};
use crate::diag::{Code, Diagnostic, Diagnostics};

/// The attributes of one family on one item.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The place of the first attribute; `None`: there is none.
    pub span: Option<Span>,
    /// The keys, in source order, over all attributes of the family.
    pub entries: Vec<Entry>,
    /// Keys that misspelt ones were taken for.
    pub(crate) meant: Vec<&'static str>,
}

impl Parsed {
    /// The place of that key, if it was given with a right value.
    pub fn given(&self, name: &str) -> Option<Span> {
        self.get(name).and_then(Entry::given)
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
    /// The value, of the shape that the row asks for, or [`Value::Invalid`].
    pub value: Value,
}

impl Entry {
    /// The place of the key, unless its value is wrong: then it counts as not given, so that one
    /// mistake does not cause others.
    pub fn given(&self) -> Option<Span> {
        if matches!(self.value, Value::Invalid) { None } else { Some(self.span) }
    }
}

/// Parses all attributes of a family on an item.
///
/// Mistakes go to `diagnostics`; what is right is returned all the same.
pub fn parse_attributes(
    family: Family,
    attributes: &[Attribute],
    place: Place,
    diagnostics: &mut Diagnostics,
) -> Parsed {
    let mut parsed = Parsed { span: None, entries: Vec::new(), meant: Vec::new() };
    let spec = family.spec();
    let owner = Owner { name: format!("#[{}]", family.name()), keys: spec.keys };
    let mut parser = Parser { family, place, diagnostics, meant: Vec::new(), depth: 0 };
    for attribute in attributes.iter().filter(|a| a.path().is_ident(family.name())) {
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

/// What a key belongs to: an attribute or an enclosing key.
struct Owner {
    /// As messages name it: `#[resource]`, `print_column(...)`.
    name: String,
    keys: &'static [KeySpec],
}

/// What follows a key.
enum Argument {
    Nothing,
    /// `= tokens`
    Value(Vec<TokenTree>),
    /// `(tokens)`
    List(Group),
}

struct Parser<'a> {
    family: Family,
    place: Place,
    diagnostics: &'a mut Diagnostics,
    /// Keys that misspelt ones were taken for. They are not reported as missing as well.
    meant: Vec<&'static str>,
    /// How many keys enclose the present one.
    depth: usize,
}

impl Parser<'_> {
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
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
    fn keys(&mut self, tokens: TokenStream, owner: &Owner, entries: &mut Vec<Entry>) {
        for part in split_at_commas(flatten(tokens), self.diagnostics) {
            self.key(part, owner, entries);
        }
    }

    /// Parses one key with what follows it, up to the comma.
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
        // What stands behind a complete key lacks its comma; go on with it.
        if let Some(next) = rest.first() {
            let message = format!("expected a comma after `{name}`");
            self.error(Code::MALFORMED_ATTRIBUTE, next.span(), message, "separate keys with commas");
            if matches!(next, TokenTree::Ident(_)) {
                self.key(rest, owner, entries);
            }
        }
    }

    /// Splits what follows a key into its argument and the rest.
    /// The argument is `None` where a mistake has been reported.
    fn argument(
        &mut self,
        name: &str,
        ident: &Ident,
        rest: Vec<TokenTree>,
    ) -> Option<(Option<Argument>, Vec<TokenTree>)> {
        match rest.first() {
            None => Some((Some(Argument::Nothing), rest)),
            Some(TokenTree::Ident(_)) => Some((Some(Argument::Nothing), rest)),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
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
                        "write a literal behind the `=`",
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
        if let Some(first) = entries.iter().find(|e| e.key.name == name && !key.repeatable) {
            let diagnostic = Diagnostic::error(
                Code::DUPLICATE_KEY,
                ident.span(),
                format!("`{name}` is given twice in {}", owner.name),
            )
            .label("given again")
            .secondary(first.span, "first given here")
            .help("keep one of them");
            return self.diagnostics.push(diagnostic);
        }
        let value = match argument {
            Some(argument) => self.value(key, ident, argument).unwrap_or(Value::Invalid),
            None => Value::Invalid,
        };
        entries.push(Entry { key, span: ident.span(), value });
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

    fn require_keys(&mut self, owner: &Owner, entries: &[Entry], span: Span) {
        for key in owner.keys.iter().filter(|key| key.required) {
            let meant = self.meant.contains(&key.name);
            if !meant && !entries.iter().any(|entry| entry.key.name == key.name) {
                let message = format!("{} needs the key `{}`", owner.name, key.name);
                self.error(Code::MISSING_KEY, span, message, format!("add {}", key.example));
            }
        }
    }

    /// The value of a key; `None` where a mistake has been reported.
    fn value(&mut self, key: &'static KeySpec, ident: &Ident, argument: Argument) -> Option<Value> {
        match (key.shape, argument) {
            (Shape::Flag | Shape::FlagOrNested(_), Argument::Nothing) => Some(Value::Flag),
            (Shape::Flag, Argument::Value(tokens)) => self.flag(key, &tokens),
            (Shape::Nested(keys) | Shape::FlagOrNested(keys), Argument::List(group)) => {
                self.nested(key, keys, &group)
            }
            (Shape::Strings | Shape::List | Shape::SomeOf(_) | Shape::Jsons, Argument::List(group)) => {
                let items = literal::list(&group, self.diagnostics);
                self.list(key, items, group.span())
            }
            (Shape::StringMap, Argument::List(group)) => {
                literal::string_map(&group, key, self.diagnostics).map(Value::StringMap)
            }
            (Shape::Nested(_) | Shape::FlagOrNested(_), Argument::Value(tokens)) => {
                let message = format!("`{}` takes keys in parentheses", key.name);
                let span = tokens.first().map_or(ident.span(), TokenTree::span);
                self.error(Code::WRONG_VALUE, span, message, format!("write {}", key.example));
                None
            }
            (_, Argument::Value(tokens)) => self.scalar(key, &tokens),
            (_, Argument::Nothing) => {
                let message = format!("`{}` needs a value", key.name);
                self.error(Code::WRONG_VALUE, ident.span(), message, format!("write {}", key.example));
                None
            }
            (_, Argument::List(group)) => {
                let what = if matches!(key.shape, Shape::Flag) { "no value" } else { "one value, with `=`" };
                let message = format!("`{}` takes {what}", key.name);
                self.error(Code::WRONG_VALUE, group.span(), message, format!("write {}", key.example));
                None
            }
        }
    }

    fn flag(&mut self, key: &'static KeySpec, tokens: &[TokenTree]) -> Option<Value> {
        let [token] = tokens else {
            return self.wrong_value(key, tokens.first()?.span(), "something else");
        };
        match token.to_string().as_str() {
            "true" => Some(Value::Flag),
            "false" => {
                let message = format!("`{} = false` has no effect", key.name);
                self.error(Code::WRONG_VALUE, token.span(), message, "leave the key out");
                None
            }
            _ => {
                let message = format!("`{}` takes no value", key.name);
                self.error(Code::WRONG_VALUE, token.span(), message, format!("write {}", key.example));
                None
            }
        }
    }

    fn nested(&mut self, key: &'static KeySpec, keys: &'static [KeySpec], group: &Group) -> Option<Value> {
        let owner = Owner { name: format!("{}(...)", key.name), keys };
        let mut entries = Vec::new();
        if group.stream().is_empty() {
            let message = format!("`{}()` has no keys", key.name);
            self.error(Code::MALFORMED_ATTRIBUTE, group.span(), message, format!("write {}", key.example));
            return None;
        }
        if self.depth >= literal::MAX_DEPTH {
            let help = format!("at most {} levels of keys are read", literal::MAX_DEPTH);
            self.error(Code::MALFORMED_ATTRIBUTE, group.span(), "the keys are nested too deeply", help);
            return None;
        }
        // What enclosing or neighbouring keys were taken for says nothing about these.
        let meant = std::mem::take(&mut self.meant);
        self.depth += 1;
        self.keys(group.stream(), &owner, &mut entries);
        self.require_keys(&owner, &entries, group.span());
        self.depth -= 1;
        self.meant = meant;
        Some(Value::Nested(entries))
    }

    fn scalar(&mut self, key: &'static KeySpec, tokens: &[TokenTree]) -> Option<Value> {
        let json = match literal::json(tokens, 0) {
            Ok(json) => json,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                return None;
            }
        };
        self.shaped(key, json)
    }

    /// Gives a literal the shape that its key asks for.
    fn shaped(&mut self, key: &'static KeySpec, json: Spanned<super::Json>) -> Option<Value> {
        use super::{Json, Number};
        let span = json.span;
        match (key.shape, json.value) {
            (Shape::Json, json) => Some(Value::Json(Spanned::new(json, span))),
            (Shape::String, Json::String(text)) => {
                self.not_empty(key, &text, span).then(|| Value::String(Spanned::new(text, span)))
            }
            (Shape::OneOf(names), Json::String(text)) => {
                self.known(key, names, &text, span).then(|| Value::String(Spanned::new(text, span)))
            }
            (Shape::Bool, Json::Bool(value)) => Some(Value::Bool(Spanned::new(value, span))),
            (Shape::Word(words), Json::String(text)) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(&text));
                let text = word.map_or(text, |word| (*word).to_owned());
                self.known(key, words, &text, span).then(|| Value::String(Spanned::new(text, span)))
            }
            (Shape::List, Json::String(text)) => {
                let parts = text.split(';').map(|part| Spanned::new(Json::String(part.to_owned()), span));
                self.list(key, parts.collect(), span)
            }
            (Shape::Strings | Shape::SomeOf(_), json @ Json::String(_)) => {
                self.list(key, vec![Spanned::new(json, span)], span)
            }
            (Shape::Strings | Shape::List | Shape::SomeOf(_) | Shape::Jsons, Json::Array(items)) => {
                self.list(key, items.into_iter().map(|item| Spanned::new(item, span)).collect(), span)
            }
            (Shape::StringMap, Json::Object(members)) => self.string_map(key, members, span),
            (Shape::Number, Json::Number(number)) => Some(Value::Number(Spanned::new(number, span))),
            (Shape::Integer, Json::Number(Number::Int(n))) => Some(Value::Integer(Spanned::new(n, span))),
            (Shape::Unsigned, Json::Number(Number::Int(n))) => match u64::try_from(n) {
                Ok(n) => Some(Value::Unsigned(Spanned::new(n, span))),
                Err(_) => {
                    let message = format!("`{}` cannot be negative", key.name);
                    self.error(Code::NUMBER_RANGE, span, message, format!("write {}", key.example));
                    None
                }
            },
            (Shape::Number | Shape::Integer | Shape::Unsigned, Json::String(text))
                if text.parse::<f64>().is_ok_and(f64::is_finite) =>
            {
                let message = format!("`{}` takes {}, found a string", key.name, describe(key.shape));
                self.error(Code::WRONG_VALUE, span, message, format!("write {} = {text}", key.name));
                None
            }
            (_, other) => self.wrong_value(key, span, other.describe()),
        }
    }

    fn list(&mut self, key: &'static KeySpec, items: Vec<Spanned<super::Json>>, span: Span) -> Option<Value> {
        if items.is_empty() {
            let message = format!("the list of `{}` is empty", key.name);
            self.error(Code::EMPTY_STRING, span, message, format!("write {}", key.example));
            return None;
        }
        if matches!(key.shape, Shape::Jsons) {
            return Some(Value::Jsons(items));
        }
        let mut texts = Vec::new();
        for Spanned { value, span } in items {
            let super::Json::String(text) = value else {
                self.wrong_value(key, span, value.describe());
                continue;
            };
            let right = match key.shape {
                Shape::SomeOf(names) => self.known(key, names, &text, span),
                Shape::List => true,
                _ => self.not_empty(key, &text, span),
            };
            if right {
                texts.push(Spanned::new(text, span));
            }
        }
        Some(Value::Strings(texts))
    }

    fn string_map(
        &mut self,
        key: &'static KeySpec,
        members: Vec<(String, super::Json)>,
        span: Span,
    ) -> Option<Value> {
        let mut map = Vec::new();
        for (name, value) in members {
            match value {
                super::Json::String(text) => map.push((Spanned::new(name, span), Spanned::new(text, span))),
                other => {
                    self.wrong_value(key, span, other.describe());
                }
            }
        }
        Some(Value::StringMap(map))
    }

    fn not_empty(&mut self, key: &KeySpec, text: &str, span: Span) -> bool {
        if text.is_empty() {
            let message = format!("`{}` is empty", key.name);
            let help =
                if key.required { format!("write {}", key.example) } else { "leave the key out".to_owned() };
            self.error(Code::EMPTY_STRING, span, message, help);
        }
        !text.is_empty()
    }

    fn known(&mut self, key: &KeySpec, names: &'static [&'static str], text: &str, span: Span) -> bool {
        if names.contains(&text) {
            return true;
        }
        let help = match closest(text, names.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("the values are {}", quoted(names)),
        };
        self.error(Code::UNKNOWN_VALUE, span, format!("unknown value {text:?} of `{}`", key.name), help);
        false
    }

    fn wrong_value(&mut self, key: &KeySpec, span: Span, found: &str) -> Option<Value> {
        let message = format!("`{}` takes {}, found {found}", key.name, describe(key.shape));
        self.error(Code::WRONG_VALUE, span, message, format!("write {}", key.example));
        None
    }
}

fn same_word(a: &str, b: &str) -> bool {
    let plain = |s: &str| s.replace('_', "").to_lowercase();
    plain(a) == plain(b)
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

fn describe(shape: Shape) -> &'static str {
    match shape {
        Shape::Flag => "no value",
        Shape::Bool => "true or false",
        Shape::String | Shape::OneOf(_) | Shape::Word(_) => "a string",
        Shape::Strings | Shape::List | Shape::SomeOf(_) => "strings",
        Shape::StringMap => "names and strings",
        Shape::Integer | Shape::Unsigned => "an integer",
        Shape::Number => "a number",
        Shape::Json => "a literal",
        Shape::Jsons => "a list",
        Shape::Nested(_) | Shape::FlagOrNested(_) => "keys in parentheses",
    }
}
