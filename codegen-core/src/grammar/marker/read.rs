//! Reads markers into entries.

use proc_macro2::Span;

use super::definition::{Definition, Syntax, Target, Written, argument_name};
use super::scan::{ScanError, Scanner, Type};
use super::{MarkerLine, misplaced};
use crate::diag::{Code, Diagnostic};
use crate::grammar::literal;
use crate::grammar::parse::{Owner, Parser};
use crate::grammar::{Entry, Family, Json, KeySpec, MODULE, Shape, Spanned, Value};
use crate::names::closest;

impl Parser<'_> {
    /// Reads a marker of the parser's family into its entries.
    pub(in crate::grammar) fn marker(
        &mut self,
        line: &MarkerLine,
        definition: &'static Definition,
        owner: &Owner,
        entries: &mut Vec<Entry>,
    ) {
        if !definition.fits(self.place) {
            return self.diagnostics.push(misplaced(line, definition, self.place));
        }
        let line = &Reading::new(line, definition);
        match definition.target {
            Target::Attribute(family) => self.bare_marker(line, family),
            Target::Key(_, key) => {
                let value = self.whole_value(line, key);
                self.add(line.written(key), line.name_span(), value, owner, entries);
            }
            Target::Item(items, key) => {
                let value = self.whole_value(line, key);
                let mut inner = Vec::new();
                self.add(line.written(key), line.name_span(), value, owner, &mut inner);
                let value = Some(Value::Nested(inner));
                self.add(line.written(items), line.name_span(), value, owner, entries);
            }
            Target::Arguments(family) => {
                for (key, span, value) in self.arguments(line, family.spec().keys) {
                    self.add(line.written(key), span, value, owner, entries);
                }
            }
            Target::Module(_) => {}
        }
    }

    /// Reads a marker with all required arguments.
    pub(in crate::grammar) fn marker_alone(
        &mut self,
        line: &MarkerLine,
        definition: &'static Definition,
        owner: &Owner,
        entries: &mut Vec<Entry>,
    ) {
        self.marker(line, definition, owner, entries);
        if definition.fits(self.place) {
            self.require_arguments(&Reading::new(line, definition), owner.keys, entries);
        }
    }

    /// A marker for a module's key.
    pub(in crate::grammar) fn module_marker(
        &mut self,
        line: &MarkerLine,
        definition: &'static Definition,
        key: &'static KeySpec,
        entries: &mut Vec<Entry>,
    ) {
        let line = &Reading::new(line, definition);
        let owner = Owner { name: "the documentation of the module".to_owned(), keys: MODULE };
        let value = self.whole_value(line, key);
        self.add(line.written(key), line.name_span(), value, &owner, entries);
    }

    /// `+genclient`, `+kubebuilder:object:root=true`
    fn bare_marker(&mut self, line: &Reading<'_>, family: Family) {
        let wanted = super::write::text(line.definition);
        let right = match line.value {
            None => family == Family::Genclient,
            Some(start) => wanted.ends_with(&format!("={}", line.line.text[start..].trim())),
        };
        if !right {
            let message = format!("`{}` says something else than `{wanted}`", line.line.text);
            let help = format!("write {wanted}, or remove the line");
            let span = line.line.span(0..line.line.text.len());
            self.diagnostics.push(Diagnostic::error(Code::WRONG_VALUE, span, message).help(help));
        }
    }

    /// The value of a marker for a single key; `None` after a diagnostic.
    fn whole_value(&mut self, line: &Reading<'_>, key: &'static KeySpec) -> Option<Value> {
        if let Shape::Nested(keys) | Shape::FlagOrNested(keys) = key.shape {
            if matches!(key.shape, Shape::FlagOrNested(_)) && line.arguments.is_none() && line.value.is_none()
            {
                return Some(Value::Flag);
            }
            let owner = Owner { name: format!("`+{}`", line.definition.name), keys };
            let mut entries = Vec::new();
            let (meant, before) = (std::mem::take(&mut self.meant), self.diagnostics.len());
            let arguments = match line.definition.syntax() {
                Syntax::Words => self.word_arguments(line, keys),
                Syntax::Arguments | Syntax::Json => self.arguments(line, keys),
            };
            for (key, span, value) in arguments {
                self.add(line.written(key), span, value, &owner, &mut entries);
            }
            // After an error the rest was not read.
            if self.diagnostics.len() == before {
                self.require_arguments(line, keys, &entries);
            }
            self.meant = meant;
            return Some(Value::Nested(entries));
        }
        let written = line.written(key);
        let Some(start) = line.value else {
            if matches!(key.shape, Shape::Flag) {
                return Some(Value::Flag);
            }
            let message = format!("`{}` needs a value", written.name());
            self.error(Code::WRONG_VALUE, line.name_span(), message, format!("write {}", written.example()));
            return None;
        };
        let mut scanner = Scanner::new(&line.line.text, start);
        let value = self.marker_value(line, written, &mut scanner)?;
        if !scanner.at_end() {
            self.remainder(line, written, &mut scanner);
            return None;
        }
        Some(value)
    }

    /// Reports text after a complete value.
    fn remainder(&mut self, line: &Reading<'_>, written: Written, scanner: &mut Scanner<'_>) {
        let (rest, range) = scanner.remainder();
        let message = format!("unexpected `{rest}` after the value of `{}`", written.name());
        let help = match written.key.shape {
            Shape::String => {
                "put a text with commas, semicolons or braces in backticks or double quotes".to_owned()
            }
            _ => format!("write {}", written.example()),
        };
        self.error(Code::MALFORMED_MARKER, line.line.span(range), message, help);
    }

    /// `a=1,b="x"`: reading stops at an invalid argument.
    fn arguments(
        &mut self,
        line: &Reading<'_>,
        keys: &'static [KeySpec],
    ) -> Vec<(&'static KeySpec, Span, Option<Value>)> {
        let mut out = Vec::new();
        let marker = &line.definition.name;
        let Some(start) = line.arguments else {
            if let Some(start) = line.value {
                let message = format!("`+{marker}` takes arguments");
                let span = line.line.span(start..line.line.text.len());
                let help = format!("write {}", super::write::text(line.definition));
                self.error(Code::MALFORMED_MARKER, span, message, help);
            }
            return out;
        };
        let mut scanner = Scanner::new(&line.line.text, start);
        loop {
            let (name, range) = match scanner.name() {
                Ok(name) => name,
                Err(error) => {
                    self.scan_error(line, &error, Code::MALFORMED_MARKER, None);
                    return out;
                }
            };
            let span = line.line.span(range);
            let Some(key) = keys.iter().find(|key| argument_name(key, marker) == Some(name)) else {
                self.unknown_argument(name, span, line, keys);
                return out;
            };
            let written = line.written(key);
            let value = if scanner.take('=') {
                self.marker_value(line, written, &mut scanner)
            } else if matches!(key.shape, Shape::Flag) {
                Some(Value::Flag)
            } else {
                let message = format!("`{name}` of `+{marker}` needs a value");
                self.error(Code::WRONG_VALUE, span, message, format!("write {}", written.example()));
                None
            };
            let broken = value.is_none();
            out.push((key, span, value));
            if scanner.at_end() || broken {
                return out;
            }
            if !scanner.take(',') {
                self.remainder(line, written, &mut scanner);
                return out;
            }
        }
    }

    /// `method=GetScale,verb=get`: the last part of the marker's name is the name of the first argument.
    /// Reading stops at an invalid argument.
    fn word_arguments(
        &mut self,
        line: &Reading<'_>,
        keys: &'static [KeySpec],
    ) -> Vec<(&'static KeySpec, Span, Option<Value>)> {
        let mut out = Vec::new();
        let marker = &line.definition.name;
        let wanted = super::write::text(line.definition);
        if line.value.is_none() {
            let message = format!("`+{marker}` needs a value");
            self.error(Code::WRONG_VALUE, line.name_span(), message, format!("write {wanted}"));
            return out;
        }
        let mut at = 1 + marker.rfind(':').map_or(0, |colon| colon + 1);
        for part in line.line.text[at..].split(',') {
            let span = line.line.span(at..at + part.len());
            let Some((name, value)) = part.split_once('=') else {
                let message = format!("expected `name=value` in `+{marker}`, found `{}`", part.trim());
                self.error(Code::MALFORMED_MARKER, span, message, format!("write {wanted}"));
                break;
            };
            let Some(key) = keys.iter().find(|key| argument_name(key, marker) == Some(name.trim())) else {
                self.unknown_argument(name.trim(), span, line, keys);
                break;
            };
            let start = at + name.len() + 1;
            let place = line.line.span(start..start + value.len());
            let text = Json::String(value.trim().to_owned());
            let value = self.shaped(line.written(key), Spanned::new(text, place));
            let broken = value.is_none();
            out.push((key, span, value));
            if broken {
                break;
            }
            at += part.len() + 1;
        }
        out
    }

    fn unknown_argument(&mut self, name: &str, span: Span, line: &Reading<'_>, keys: &'static [KeySpec]) {
        let marker = &line.definition.name;
        let names: Vec<&str> = keys.iter().filter_map(|key| argument_name(key, marker)).collect();
        let near = closest(name, names.iter().copied());
        let key = near.and_then(|near| keys.iter().find(|key| argument_name(key, marker) == Some(near)));
        self.meant.extend(key.map(|key| key.name));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the arguments are {}", names.join(", ")),
        };
        self.error(Code::UNKNOWN_KEY, span, format!("unknown argument `{name}` of `+{marker}`"), help);
    }

    fn require_arguments(&mut self, line: &Reading<'_>, keys: &'static [KeySpec], entries: &[Entry]) {
        // After an error the rest was not read.
        let broken = entries.iter().any(|entry| matches!(entry.value, Value::Invalid));
        if broken || !self.meant.is_empty() {
            return;
        }
        let missing =
            |key: &&KeySpec| key.required && !entries.iter().any(|entry| entry.key.name == key.name);
        for key in keys.iter().filter(missing) {
            let written = line.written(key);
            let message = format!("`+{}` needs the argument `{}`", line.definition.name, written.name());
            self.error(Code::MISSING_KEY, line.name_span(), message, format!("add {}", written.example()));
        }
    }

    /// A value, up to the delimiter after it; `None` after a diagnostic.
    fn marker_value(
        &mut self,
        line: &Reading<'_>,
        written: Written,
        scanner: &mut Scanner<'_>,
    ) -> Option<Value> {
        match line.definition.syntax() {
            Syntax::Json => return self.json_value(line, written, scanner),
            Syntax::Words => return self.words(line, written, scanner),
            Syntax::Arguments => {}
        }
        let strings = || Type::Slice(Box::new(Type::String));
        let (ty, code) = match written.key.shape {
            // The marker accepts any value, but only a string is valid.
            Shape::String if line.definition.name == "kubebuilder:title" => {
                (Type::Any, Code::MALFORMED_MARKER)
            }
            Shape::Flag | Shape::Bool => (Type::Bool, Code::WRONG_VALUE),
            Shape::Integer | Shape::Unsigned => (Type::Int, Code::WRONG_VALUE),
            Shape::Number => (Type::Number, Code::WRONG_VALUE),
            Shape::String | Shape::OneOf(_) | Shape::Word(_) => (Type::String, Code::MALFORMED_MARKER),
            Shape::Strings | Shape::List | Shape::SomeOf(_) | Shape::StringMap => {
                (strings(), Code::MALFORMED_MARKER)
            }
            Shape::Jsons => (Type::Slice(Box::new(Type::Any)), Code::MALFORMED_MARKER),
            Shape::Json | Shape::JsonOrRef | Shape::Nested(_) | Shape::FlagOrNested(_) => {
                (Type::Any, Code::MALFORMED_MARKER)
            }
        };
        match scanner.value(&ty) {
            Ok((json, range)) => {
                let span = line.line.span(range);
                match written.key.shape {
                    Shape::StringMap => self.pairs(written, &json, span),
                    Shape::Json | Shape::JsonOrRef if json == Json::Object(Vec::new()) => {
                        self.shaped(written, Spanned::new(Json::Empty, span))
                    }
                    _ => self.shaped(written, Spanned::new(json, span)),
                }
            }
            Err(error) => {
                self.scan_error(line, &error, code, Some(written));
                None
            }
        }
    }

    /// `"a=b";"c=d"`
    fn pairs(&mut self, written: Written, json: &Json, span: Span) -> Option<Value> {
        let Json::Array(items) = json else { return None };
        let mut pairs = Vec::new();
        for item in items {
            let Json::String(text) = item else { continue };
            let Some((name, value)) = text.split_once('=') else {
                let message = format!("{text:?} in `{}` is not of the form \"name=value\"", written.name());
                self.error(Code::WRONG_VALUE, span, message, format!("write {}", written.example()));
                return None;
            };
            pairs.push((Spanned::new(name.to_owned(), span), Spanned::new(value.to_owned(), span)));
        }
        Some(Value::StringMap(pairs))
    }

    fn json_value(
        &mut self,
        line: &Reading<'_>,
        written: Written,
        scanner: &mut Scanner<'_>,
    ) -> Option<Value> {
        let (text, range) = scanner.remainder();
        let span = line.line.span(range);
        scanner.skip_to_end();
        let inside = text.trim().strip_prefix("ref(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(path) = inside.and_then(literal::path) {
            return Some(Value::Reference(Spanned::new(path, span)));
        }
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) => {
                let Some(json) = Json::from_value(&value) else {
                    let message = format!("a number in `{}` does not fit 64 bits", written.name());
                    let help = "numbers from -2^63 to 2^63 - 1 can be written";
                    self.error(Code::NUMBER_RANGE, span, message, help);
                    return None;
                };
                self.shaped(written, Spanned::new(json, span))
            }
            Err(_) => {
                let message = format!("the value of `{}` is not JSON", written.name());
                let help = if text.starts_with("ref(") {
                    "`ref(...)` takes the path of a constant as in Rust's code: ref(DEFAULT_SIZE), ref(crate::defaults::SIZE)"
                        .to_owned()
                } else {
                    format!("write JSON, as in {}; strings are quoted", written.example())
                };
                self.error(Code::MALFORMED_MARKER, span, message, help);
                None
            }
        }
    }

    /// `get,list`
    fn words(&mut self, line: &Reading<'_>, written: Written, scanner: &mut Scanner<'_>) -> Option<Value> {
        let (text, range) = scanner.remainder();
        let span = line.line.span(range);
        scanner.skip_to_end();
        let json = match written.key.shape {
            Shape::Flag if matches!(text, "true" | "false") => Json::Bool(text == "true"),
            Shape::Strings | Shape::SomeOf(_) => {
                Json::Array(text.split([',', ';']).map(|word| Json::String(word.trim().to_owned())).collect())
            }
            _ => Json::String(text.to_owned()),
        };
        self.shaped(written, Spanned::new(json, span))
    }

    fn scan_error(&mut self, line: &Reading<'_>, error: &ScanError, code: Code, written: Option<Written>) {
        let (name, example) = match written {
            Some(written) => (written.name().into_owned(), written.example().into_owned()),
            None => (format!("+{}", line.definition.name), super::write::text(line.definition)),
        };
        let message = format!("{} in `{name}`", error.message);
        self.error(code, line.line.span(error.range.clone()), message, format!("write {example}"));
    }
}

/// A marker being read.
struct Reading<'a> {
    line: &'a MarkerLine,
    definition: &'static Definition,
    /// The start of the marker's own value, after `=`.
    value: Option<usize>,
    /// The start of the arguments, after `:`.
    arguments: Option<usize>,
}

impl<'a> Reading<'a> {
    fn new(line: &'a MarkerLine, definition: &'static Definition) -> Self {
        let (name, range) = line.name();
        let own = definition.name.len();
        let exact = name.trim_end_matches(':') == definition.name;
        let value = line.text.find('=').map(|at| at + 1).filter(|_| exact);
        let arguments = (!exact).then_some(range.start + own + 1);
        Self { line, definition, value, arguments }
    }

    fn written(&self, key: &'static KeySpec) -> Written {
        Written { key, marker: Some(self.definition) }
    }

    fn name_span(&self) -> Span {
        self.line.span(0..1 + self.definition.name.len())
    }
}
