//! Documents of a text, and their JSON values.

use std::collections::BTreeSet;
use std::ops::Range;

use kubesmith_apimachinery::decode::{self, Observer, Step};
#[cfg(feature = "yaml")]
use serde::Deserializer as _;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

#[cfg(feature = "yaml")]
use super::depth::too_deep;
use crate::json::path::{self, Path};

/// The limit of bytes that aliases may add to a document: more than a real document needs, and affordable.
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

/// Reports whether the text has more than comments and directives.
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

/// Reports whether the text is one YAML document.
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
    let mut notes = Notes::new(text.len(), strict);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = decode::read(&mut deserializer, None, &mut notes);
    match read.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => Ok(notes.parsed(value)),
        Err(error) => Err(syntax_error(&error, error.line())),
    }
}

#[cfg(feature = "yaml")]
fn parse_yaml(text: &str, strict: bool) -> Result<Parsed, SyntaxError> {
    if let Some(at) = too_deep(text, OPEN_BRACKETS) {
        let message = format!("more than {OPEN_BRACKETS} brackets are open");
        return Err(SyntaxError { message, line: text[..at].matches('\n').count() });
    }
    let mut notes = Notes::new(text.len(), strict);
    match decode::read(serde_yaml::Deserializer::from_str(text), Some(text), &mut notes) {
        Ok(value) => Ok(notes.parsed(value)),
        Err(error) => {
            // libyaml may look beyond the end for a missing part.
            let last = text.matches('\n').count() + 1;
            let line = error.location().map_or(1, |location| location.line().min(last));
            Err(syntax_error(&error, line))
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

/// The notes of a parse.
struct Notes {
    /// The remaining bytes of values and paths that may be kept; without aliases a document is no larger than its
    /// text.
    room: usize,
    /// The duplicate members; `None` if they are not recorded.
    duplicates: Option<BTreeSet<Path>>,
}

/// The error beyond [`ALIASES_ADD`].
const TOO_LARGE: &str = "aliases make the document larger than 4 MiB more than its text";
const TOO_MANY_DUPLICATES: &str = "so many fields are given twice that not all of them can be named";

impl Notes {
    fn new(length: usize, strict: bool) -> Self {
        Self { room: length.saturating_add(ALIASES_ADD), duplicates: strict.then(BTreeSet::new) }
    }

    fn take(&mut self, bytes: usize, too_much: &'static str) -> Result<(), &'static str> {
        self.room = self.room.checked_sub(bytes.max(1)).ok_or(too_much)?;
        Ok(())
    }

    fn parsed(self, value: Value) -> Parsed {
        Parsed { value, duplicates: self.duplicates.unwrap_or_default() }
    }
}

impl Observer for Notes {
    fn value(&mut self, bytes: usize) -> Result<(), &'static str> {
        self.take(bytes, TOO_LARGE)
    }

    fn replaces_merged(&mut self, _: &[Step], _: Option<usize>) -> Result<(), &'static str> {
        Ok(())
    }

    fn duplicate(&mut self, path: &[Step], _: Option<usize>) -> Result<(), &'static str> {
        let is_new = self.duplicates.as_ref().is_some_and(|known| !known.contains(path));
        if is_new {
            self.take(path::size(path), TOO_MANY_DUPLICATES)?;
            self.duplicates.get_or_insert_default().insert(path.to_vec());
        }
        Ok(())
    }
}

/// The reason for the end of parsing at this line, from 1.
fn syntax_error(error: &impl ToString, line: usize) -> SyntaxError {
    let message = error.to_string().split(" at line ").next().unwrap_or_default().to_owned();
    SyntaxError { message, line: line.saturating_sub(1) }
}
