//! Documents of a text, and their JSON values.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::{Map, Number, Value};

#[cfg(feature = "yaml")]
use super::depth::too_deep;
use super::path::{self, Path, Step};

/// How many bytes aliases may add to a document: more than a real document needs, and affordable.
const ALIASES_ADD: usize = 4 << 20;

/// The nesting of brackets in YAML. Types and parsers have far lower limits; libyaml's time grows with the square
/// of it.
#[cfg(feature = "yaml")]
const OPEN_BRACKETS: usize = 1000;

/// A document cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// The message.
    pub(super) message: String,
    /// The line within the document, from 0.
    pub(super) line: usize,
}

/// The content of a document.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) value: Value,
    /// Duplicate members, of which the last one counts; only found in strict decoding.
    pub(super) duplicates: BTreeSet<Path>,
}

/// Returns the ranges of the documents of a text. A JSON document may contain several values, each with its own
/// range.
pub(super) fn documents(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut close = |range: Range<usize>| {
        if says_something(&text[range.clone()]) {
            values(text, range, &mut out);
        }
    };
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        if body.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])) {
            close(start..at);
            start = at + 3;
        } else if body == "..." {
            close(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    close(start..at);
    out
}

/// Whether the text has more than comments and directives.
fn says_something(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    lines.into_iter().any(|line| !line.is_empty() && !line.starts_with(['#', '%']))
}

/// Returns the first line at or after the error that begins with `{`. Text before it is not read again.
fn next_object(text: &str, line: usize) -> usize {
    let mut at = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if at > 0 && number + 1 >= line && content.starts_with('{') {
            break;
        }
        at += content.len();
    }
    at
}

/// Returns the text without leading white space and comments.
fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if !text.starts_with('#') {
            return text;
        }
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
}

/// Splits consecutive JSON values. After an invalid one, continues at the next line that begins with `{`.
fn values(text: &str, range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut is_first = true;
    while start < range.end {
        let rest = skip_comments(&text[start..range.end]);
        start = range.end - rest.len();
        if !is_json(rest) {
            if !rest.is_empty() {
                out.push(start..range.end);
            }
            return;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let length = match stream.next() {
            Some(Ok(_)) => stream.byte_offset(),
            // A YAML map in flow style may have many lines.
            Some(Err(_)) if is_first && is_yaml(rest) => rest.len(),
            Some(Err(error)) => next_object(rest, error.line()),
            None => rest.len(),
        };
        out.push(start..start + length);
        start += length;
        is_first = false;
    }
}

/// Guesses like `kubectl`; two braces begin a template.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') && !text.starts_with("{{")
}

/// Whether the text is one YAML document.
#[cfg(feature = "yaml")]
fn is_yaml(text: &str) -> bool {
    too_deep(text, OPEN_BRACKETS).is_none()
        && serde_yaml::Deserializer::from_str(text).deserialize_ignored_any(IgnoredAny).is_ok()
}

#[cfg(not(feature = "yaml"))]
fn is_yaml(_: &str) -> bool {
    false
}

/// Parses a document. Strict decoding also records duplicate members.
pub(super) fn parse(text: &str, strict: bool) -> Result<Parsed, SyntaxError> {
    let error = match parse_json(text, strict) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    #[cfg(feature = "yaml")]
    let error = match parse_yaml(text, strict) {
        Ok(parsed) => return Ok(parsed),
        // Flow style looks like JSON, but JSON's messages are better if both fail.
        Err(_) if is_json(text) => error,
        Err(error) => error,
    };
    let hint = if text.contains("{{") { " (it looks like a template; render it first)" } else { "" };
    Err(SyntaxError { message: error.message + hint, ..error })
}

fn parse_json(text: &str, strict: bool) -> Result<Parsed, SyntaxError> {
    if !is_json(text) {
        let message = match cfg!(feature = "yaml") {
            true => "not JSON",
            false => "not JSON; YAML needs the feature `yaml` of kubesmith-runtime",
        };
        return Err(SyntaxError { message: message.to_owned(), line: 0 });
    }
    let state = State::new(text.len(), strict);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Build(&state).deserialize(&mut deserializer);
    match read.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => Ok(state.parsed(value)),
        Err(error) => Err(state.error(&error, error.line())),
    }
}

#[cfg(feature = "yaml")]
fn parse_yaml(text: &str, strict: bool) -> Result<Parsed, SyntaxError> {
    if let Some(at) = too_deep(text, OPEN_BRACKETS) {
        let message = format!("more than {OPEN_BRACKETS} brackets are open");
        return Err(SyntaxError { message, line: text[..at].matches('\n').count() });
    }
    let state = State { merges: true, ..State::new(text.len(), strict) };
    match Build(&state).deserialize(serde_yaml::Deserializer::from_str(text)) {
        Ok(value) => Ok(state.parsed(value)),
        Err(error) => {
            // libyaml may look beyond the end for a missing part.
            let last = text.matches('\n').count() + 1;
            let line = error.location().map_or(1, |location| location.line().min(last));
            Err(state.error(&error, line))
        }
    }
}

/// Writes a value as indented JSON.
///
/// # Errors
/// If it cannot be serialised.
pub(super) fn to_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}

/// State while a document is parsed.
struct State {
    /// How many more values may be made; without aliases a document is no larger than its text.
    room: Cell<usize>,
    /// The limit that was exceeded.
    too_large: Cell<Option<TooLarge>>,
    path: RefCell<Path>,
    /// `None` if duplicates are not recorded.
    duplicates: Option<RefCell<BTreeSet<Path>>>,
    /// Whether `<<` merges.
    merges: bool,
}

/// The limits of a document.
#[derive(Clone, Copy)]
enum TooLarge {
    Values,
    Duplicates,
}

impl State {
    fn new(length: usize, strict: bool) -> Self {
        Self {
            room: Cell::new(length.saturating_add(ALIASES_ADD)),
            too_large: Cell::new(None),
            path: RefCell::default(),
            duplicates: strict.then(RefCell::default),
            merges: false,
        }
    }

    fn parsed(self, value: Value) -> Parsed {
        Parsed { value, duplicates: self.duplicates.map(RefCell::into_inner).unwrap_or_default() }
    }

    /// Returns the reason for the end of parsing at this line, from 1.
    fn error(&self, error: &impl fmt::Display, line: usize) -> SyntaxError {
        let message = match self.too_large.get() {
            Some(TooLarge::Values) => {
                format!("aliases make the document larger than {ALIASES_ADD} bytes more than its text")
            }
            Some(TooLarge::Duplicates) => {
                "so many fields are given twice that not all of them can be named".to_owned()
            }
            None => error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        };
        SyntaxError { message, line: line.saturating_sub(1) }
    }

    fn take<E: serde::de::Error>(&self, bytes: usize, what: TooLarge) -> Result<(), E> {
        match self.room.get().checked_sub(bytes.max(1)) {
            Some(room) => {
                self.room.set(room);
                Ok(())
            }
            None => {
                self.too_large.set(Some(what));
                Err(E::custom("too large"))
            }
        }
    }

    fn take_value<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.take(bytes, TooLarge::Values)
    }

    /// Records a duplicate member at the path.
    fn duplicate<E: serde::de::Error>(&self) -> Result<(), E> {
        let Some(duplicates) = &self.duplicates else { return Ok(()) };
        let path = self.path.borrow();
        let mut duplicates = duplicates.borrow_mut();
        if !duplicates.contains(&*path) {
            self.take(path::size(&path), TooLarge::Duplicates)?;
            duplicates.insert(path.clone());
        }
        Ok(())
    }
}

/// Builds a value. Unlike serde_json it accepts any scalar as a key, and it bounds the size of aliases.
#[derive(Clone, Copy)]
struct Build<'s>(&'s State);

impl<'de> DeserializeSeed<'de> for Build<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Build<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON has")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.0.take_value(1).map(|()| Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.0.take_value(1).map(|()| Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.0.take_value(1).map(|()| value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.0.take_value(1).map(|()| value.into())
    }

    // Numbers beyond 64 bits are floats, as in JSON.
    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.0.take_value(1)?;
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("JSON has no such number"))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.0.take_value(value.len()).map(|()| value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.0.take_value(1)?;
        let mut items = Vec::new();
        loop {
            self.0.path.borrow_mut().push(Step::Item(items.len()));
            let item = access.next_element_seed(self)?;
            self.0.path.borrow_mut().pop();
            match item {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.0.take_value(1)?;
        let mut members = Map::new();
        while let Some(name) = access.next_key_seed(Key)? {
            self.0.take_value(name.len())?;
            self.0.path.borrow_mut().push(Step::Member(name.clone()));
            let value = access.next_value_seed(self)?;
            if members.insert(name, value).is_some() {
                self.0.duplicate()?;
            }
            self.0.path.borrow_mut().pop();
        }
        if self.0.merges
            && let Some(merged) = members.remove("<<")
        {
            merge(&mut members, merged).map_err(A::Error::custom)?;
        }
        Ok(Value::Object(members))
    }
}

/// Merges `<<: *anchor`, or a list of anchors; existing members stay.
fn merge(members: &mut Map<String, Value>, merged: Value) -> Result<(), &'static str> {
    match merged {
        Value::Object(others) => {
            for (name, value) in others {
                members.entry(name).or_insert(value);
            }
            Ok(())
        }
        Value::Array(all) => all.into_iter().try_for_each(|one| merge(members, one)),
        _ => Err("`<<` merges maps alone"),
    }
}

/// The name of a member; YAML allows other scalars than strings.
pub(super) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<String, E> {
        Ok(name.to_owned())
    }

    fn visit_bool<E: serde::de::Error>(self, name: bool) -> Result<String, E> {
        Ok(name.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, name: i64) -> Result<String, E> {
        Ok(name.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, name: u64) -> Result<String, E> {
        Ok(name.to_string())
    }

    fn visit_u128<E: serde::de::Error>(self, name: u128) -> Result<String, E> {
        Ok(name.to_string())
    }

    fn visit_i128<E: serde::de::Error>(self, name: i128) -> Result<String, E> {
        Ok(name.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, name: f64) -> Result<String, E> {
        Ok(name.to_string())
    }
}
