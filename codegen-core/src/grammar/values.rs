//! Converts values to the shapes of their keys, and reports those that do not fit.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenTree};

use super::literal;
use super::marker::Written;
use super::parse::{Argument, Owner, Parser};
use super::{Json, KeySpec, Number, Shape, Spanned, Value};
use crate::diag::{Code, Diagnostic};
use crate::names::closest;

impl Parser<'_> {
    /// The value of a key; `None` after a diagnostic.
    pub(super) fn value(
        &mut self,
        key: &'static KeySpec,
        ident: &Ident,
        argument: Argument,
    ) -> Option<Value> {
        match (key.shape, argument) {
            (Shape::Flag | Shape::FlagOrNested(_), Argument::Nothing) => Some(Value::Flag),
            (Shape::Bool, Argument::Nothing) => Some(Value::Bool(Spanned::new(true, ident.span()))),
            (Shape::Nested(keys) | Shape::FlagOrNested(keys), Argument::List(group)) => {
                self.nested(key, keys, &group)
            }
            (_, Argument::List(group)) if group.delimiter() == Delimiter::Brace => {
                let message = format!("`{}` has no keys of its own, which braces would be for", key.name);
                self.error(
                    Code::MALFORMED_ATTRIBUTE,
                    group.span(),
                    message,
                    format!("write {}", key.example),
                );
                None
            }
            (Shape::Strings | Shape::List | Shape::SomeOf(_) | Shape::Jsons, Argument::List(group)) => {
                let items = literal::list(&group, self.diagnostics);
                self.list(Written::attribute(key), items, group.span())
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
            (Shape::JsonOrRef, Argument::Value(tokens)) => {
                let is_name = matches!(tokens.as_slice(), [TokenTree::Ident(_)]);
                let read = match literal::reference(&tokens) {
                    Some(path) => path.map(Value::Reference),
                    None => literal::json(&tokens, 0).map(Value::Json),
                };
                let constant = "write the value itself, or name the constant that has it: ref(PATH)";
                let told = |mistake: Diagnostic| if is_name { mistake.help(constant) } else { mistake };
                read.map_err(|mistake| self.diagnostics.push(told(*mistake))).ok()
            }
            (_, Argument::Value(tokens)) => {
                let json = literal::json(&tokens, 0)
                    .map_err(|diagnostic| self.diagnostics.push(*diagnostic))
                    .ok()?;
                self.shaped(Written::attribute(key), json)
            }
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
        // Suggestions for enclosing or neighbouring keys do not apply here.
        let meant = std::mem::take(&mut self.meant);
        self.depth += 1;
        self.keys(group.stream(), &owner, &mut entries);
        self.require_keys(&owner, &entries, group.span());
        self.depth -= 1;
        self.meant = meant;
        Some(Value::Nested(entries))
    }

    /// Converts a literal to its key's shape.
    pub(super) fn shaped(&mut self, written: Written, json: Spanned<Json>) -> Option<Value> {
        let span = json.span;
        match (written.key.shape, json.value) {
            (Shape::Flag, Json::Bool(true)) => Some(Value::Flag),
            (Shape::Bool, Json::Bool(value)) => Some(Value::Bool(Spanned::new(value, span))),
            (Shape::Flag, Json::Bool(false)) => {
                let equals = if written.marker.is_some() { "=" } else { " = " };
                let message = format!("`{}{equals}false` has no effect", written.name());
                self.error(Code::WRONG_VALUE, span, message, "leave it out");
                None
            }
            (Shape::Flag, _) => {
                let message = format!("`{}` takes no value", written.name());
                self.error(Code::WRONG_VALUE, span, message, format!("write {}", written.example()));
                None
            }
            (Shape::Json | Shape::JsonOrRef, json) => Some(Value::Json(Spanned::new(json, span))),
            (Shape::String, Json::String(text)) => {
                self.not_empty(written, &text, span).then(|| Value::String(Spanned::new(text, span)))
            }
            (Shape::OneOf(names), Json::String(text)) => {
                self.known(written, names, &text, span).then(|| Value::String(Spanned::new(text, span)))
            }
            (Shape::Word(words), Json::String(text)) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(&text));
                let text = word.map_or(text, |word| (*word).to_owned());
                self.known(written, words, &text, span).then(|| Value::String(Spanned::new(text, span)))
            }
            (Shape::List, Json::String(text)) => {
                let parts = text.split(';').map(|part| Spanned::new(Json::String(part.to_owned()), span));
                self.list(written, parts.collect(), span)
            }
            (Shape::Strings | Shape::SomeOf(_), json @ Json::String(_)) => {
                self.list(written, vec![Spanned::new(json, span)], span)
            }
            (Shape::Strings | Shape::List | Shape::SomeOf(_) | Shape::Jsons, Json::Array(items)) => {
                self.list(written, items.into_iter().map(|item| Spanned::new(item, span)).collect(), span)
            }
            (Shape::StringMap, Json::Object(members)) => self.string_map(written, members, span),
            (Shape::Number, Json::Number(number)) => Some(Value::Number(Spanned::new(number, span))),
            (Shape::Integer, Json::Number(Number::Int(n))) => Some(Value::Integer(Spanned::new(n, span))),
            (Shape::Unsigned, Json::Number(Number::Int(n))) => match u64::try_from(n) {
                Ok(n) => Some(Value::Unsigned(Spanned::new(n, span))),
                Err(_) => {
                    let message = format!("`{}` cannot be negative", written.name());
                    self.error(Code::NUMBER_RANGE, span, message, format!("write {}", written.example()));
                    None
                }
            },
            (Shape::Number | Shape::Integer | Shape::Unsigned, Json::String(text))
                if text.parse::<f64>().is_ok_and(f64::is_finite) =>
            {
                let message =
                    format!("`{}` takes {}, found a string", written.name(), describe(written.key.shape));
                self.error(Code::WRONG_VALUE, span, message, format!("write {} = {text}", written.name()));
                None
            }
            (_, other) => self.wrong_value(written, span, other.describe()),
        }
    }

    fn list(&mut self, written: Written, items: Vec<Spanned<Json>>, span: Span) -> Option<Value> {
        if items.is_empty() {
            let message = format!("the list of `{}` is empty", written.name());
            self.error(Code::EMPTY_STRING, span, message, format!("write {}", written.example()));
            return None;
        }
        if matches!(written.key.shape, Shape::Jsons) {
            return Some(Value::Jsons(items));
        }
        let mut texts = Vec::new();
        for Spanned { value, span } in items {
            let Json::String(text) = value else {
                self.wrong_value(written, span, value.describe());
                continue;
            };
            let right = match written.key.shape {
                Shape::SomeOf(names) => self.known(written, names, &text, span),
                Shape::List => true,
                _ => self.not_empty(written, &text, span),
            };
            if right {
                texts.push(Spanned::new(text, span));
            }
        }
        Some(Value::Strings(texts))
    }

    fn string_map(&mut self, written: Written, members: Vec<(String, Json)>, span: Span) -> Option<Value> {
        let mut map = Vec::new();
        for (name, value) in members {
            match value {
                Json::String(text) => map.push((Spanned::new(name, span), Spanned::new(text, span))),
                other => {
                    self.wrong_value(written, span, other.describe());
                }
            }
        }
        Some(Value::StringMap(map))
    }

    fn not_empty(&mut self, written: Written, text: &str, span: Span) -> bool {
        if text.is_empty() {
            let message = format!("`{}` is empty", written.name());
            let help = if written.key.required {
                format!("write {}", written.example())
            } else {
                "leave the key out".to_owned()
            };
            self.error(Code::EMPTY_STRING, span, message, help);
        }
        !text.is_empty()
    }

    fn known(&mut self, written: Written, names: &'static [&'static str], text: &str, span: Span) -> bool {
        if names.contains(&text) {
            return true;
        }
        let help = match closest(text, names.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("the values are {}", quoted(names)),
        };
        self.error(
            Code::UNKNOWN_VALUE,
            span,
            format!("unknown value {text:?} of `{}`", written.name()),
            help,
        );
        false
    }

    fn wrong_value(&mut self, written: Written, span: Span, found: &str) -> Option<Value> {
        let message = format!("`{}` takes {}, found {found}", written.name(), describe(written.key.shape));
        self.error(Code::WRONG_VALUE, span, message, format!("write {}", written.example()));
        None
    }
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
        Shape::Json | Shape::JsonOrRef => "a literal",
        Shape::Jsons => "a list",
        Shape::Nested(_) | Shape::FlagOrNested(_) => "keys in parentheses",
    }
}
