//! Writes attributes as rustfmt lays them out.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apimachinery::yaml;
use serde_json::{Number, Value};

/// rustfmt's `attr_fn_like_width`: longer argument lists get lines of their own.
const ARGUMENTS: usize = 70;
/// rustfmt's `max_width`.
const WIDTH: usize = 100;

/// A key of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    /// `status`, `minimum = 1`
    Plain(String),
    /// `rule(...)`, or `rule { ... }` beside others of the name.
    List(String, Vec<Key>),
    /// Written like JSON, which rustfmt leaves alone: `default = {...}`.
    Json(String, Value),
}

impl Key {
    /// `name = "text"`
    pub(super) fn text(name: &str, text: &str) -> Self {
        Self::Plain(format!("{name} = {}", string(text)))
    }

    /// `name = 1`
    pub(super) fn number(name: &str, number: &Number) -> Self {
        Self::Plain(format!("{name} = {}", self::number(number)))
    }

    fn flat(&self, braced: &BTreeSet<&str>) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::List(name, keys) => {
                let [open, close] = brackets(name, braced);
                format!("{name}{open}{}{close}", flat(keys))
            }
            Self::Json(name, value) => format!("{name} = {}", json(value)),
        }
    }

    /// The word by which clippy's `duplicated_attributes` compares keys: text values with their name,
    /// others by name alone.
    fn word(&self) -> &str {
        match self {
            Self::Plain(text) => match text.split_once(" = ") {
                Some((name, value)) if !value.ends_with(['"', '#']) => name,
                _ => text,
            },
            Self::List(name, _) | Self::Json(name, _) => name,
        }
    }
}

fn flat(keys: &[Key]) -> String {
    let braced = braced(keys);
    keys.iter().map(|key| key.flat(&braced)).collect::<Vec<_>>().join(", ")
}

/// The names of lists that repeat a key. Clippy's lint for duplicates accepts repeated keys only in braces.
fn braced(keys: &[Key]) -> BTreeSet<&str> {
    let mut said: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut out = BTreeSet::new();
    for key in keys {
        let Key::List(name, inner) = key else { continue };
        let said = said.entry(name).or_default();
        let all = said.len() + inner.len();
        said.extend(inner.iter().map(Key::word));
        out.extend((said.len() < all).then_some(name.as_str()));
    }
    out
}

/// The brackets around the keys of a list.
fn brackets(name: &str, braced: &BTreeSet<&str>) -> [&'static str; 2] {
    if braced.contains(name) { [" { ", " }"] } else { ["(", ")"] }
}

/// Writes `#[name(keys)]`, with a separate attribute for each JSON literal.
pub(super) fn write(out: &mut String, indent: usize, name: &str, keys: &[Key]) {
    let (special, plain): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| matches!(key, Key::Json(..)));
    let plain: Vec<Key> = plain.into_iter().cloned().collect();
    let margin = " ".repeat(indent);
    if !plain.is_empty() {
        let arguments = flat(&plain);
        let length = arguments.chars().count();
        let fits = indent + name.len() + length + 5 <= WIDTH;
        match &plain[..] {
            _ if fits && length <= ARGUMENTS => out.push_str(&format!("{margin}#[{name}({arguments})]\n")),
            // A single key may exceed rustfmt's width for arguments, or begins on the first line.
            [Key::Plain(_)] if fits => out.push_str(&format!("{margin}#[{name}({arguments})]\n")),
            [Key::List(key, inner)] => {
                out.push_str(&format!("{margin}#[{name}({key}(\n"));
                lines(out, indent + 4, inner);
                out.push_str(&format!("{margin}))]\n"));
            }
            _ => {
                out.push_str(&format!("{margin}#[{name}(\n"));
                lines(out, indent + 4, &plain);
                out.push_str(&format!("{margin})]\n"));
            }
        }
    }
    for key in special {
        let Key::Json(key, value) = key else { continue };
        out.push_str(&format!("{margin}#[{name}({key} = "));
        pretty(out, indent, value, WIDTH.saturating_sub(indent + name.len() + key.len() + 10));
        out.push_str(")]\n");
    }
}

fn lines(out: &mut String, indent: usize, keys: &[Key]) {
    let margin = " ".repeat(indent);
    let braced = braced(keys);
    for (at, key) in keys.iter().enumerate() {
        let end = if at + 1 == keys.len() { "" } else { "," };
        match key {
            Key::List(name, inner)
                if flat(inner).chars().count() > ARGUMENTS
                    || indent + name.len() + flat(inner).chars().count() + 3 > WIDTH =>
            {
                let [open, close] = brackets(name, &braced);
                let (open, close) = (open.trim_end(), close.trim_start());
                out.push_str(&format!("{margin}{name}{open}\n"));
                lines(out, indent + 4, inner);
                out.push_str(&format!("{margin}{close}{end}\n"));
            }
            _ => out.push_str(&format!("{margin}{}{end}\n", key.flat(&braced))),
        }
    }
}

/// Writes a literal, over several lines if it is longer than `room`.
fn pretty(out: &mut String, indent: usize, value: &Value, room: usize) {
    let flat = json(value);
    let inner = " ".repeat(indent + 4);
    let margin = " ".repeat(indent);
    match value {
        _ if flat.chars().count() <= room => out.push_str(&flat),
        Value::Object(members) => {
            out.push_str("{\n");
            for (name, value) in members {
                let name = string(name);
                out.push_str(&format!("{inner}{name}: "));
                pretty(out, indent + 4, value, WIDTH.saturating_sub(indent + name.len() + 7));
                out.push_str(",\n");
            }
            out.push_str(&format!("{margin}}}"));
        }
        Value::Array(items) => {
            out.push_str("[\n");
            for item in items {
                out.push_str(&inner);
                pretty(out, indent + 4, item, WIDTH.saturating_sub(indent + 5));
                out.push_str(",\n");
            }
            out.push_str(&format!("{margin}]"));
        }
        _ => out.push_str(&flat),
    }
}

/// A literal in the notation of attributes.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => self::number(number),
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{}: {}", string(name), json(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

fn number(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(number), _) => number.to_string(),
        (None, Some(float)) => format!("{float:?}"),
        (None, None) => number.to_string(),
    }
}

/// A string literal with invisible characters escaped; rustc refuses those that change the direction of
/// text.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in format!("{text:?}").chars() {
        match yaml::is_hidden(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// A string literal, written raw if it needs many escapes.
pub(super) fn string(text: &str) -> String {
    let is_plain = text.chars().all(|c| !yaml::is_hidden(c) && !format!("{c:?}").contains("\\u"));
    if !text.contains(['"', '\\']) || !is_plain {
        return escaped(text);
    }
    let mut hashes = 0;
    while text.contains(&format!("\"{}", "#".repeat(hashes))) {
        hashes += 1;
    }
    let hashes = "#".repeat(hashes);
    format!("r{hashes}\"{text}\"{hashes}")
}
