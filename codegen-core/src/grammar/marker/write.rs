//! Writes entries as markers: examples for messages and documentation.

use std::fmt::Write as _;

use kubesmith_apiextensions::schema::{KEYWORDS, Role};

use super::definition::{Definition, Syntax, Target, argument_name, is_typical};
use crate::diag::Diagnostics;
use crate::grammar::parse::parse_example;
use crate::grammar::{Entry, Family, Json, KeySpec, Value};

/// Whether the flag's marker takes `true`, as controller-gen's constraints do. The others have no value.
fn is_boolean(key: &KeySpec) -> bool {
    KEYWORDS.iter().any(|keyword| {
        keyword.role == Role::Restriction
            && keyword.attribute.is_some_and(|attribute| attribute.name == key.name)
    })
}

/// The marker with an example of its value: `+kubebuilder:validation:MinLength=1`.
///
/// For the key of an argument, only that argument is written: `JSONPath=".spec.nodename"`.
pub(super) fn example(marker: &Definition, key: &'static KeySpec) -> String {
    let name = argument_name(key, &marker.name);
    let whole = marker.target.key().is_some_and(|own| std::ptr::eq(own, key));
    match (read(key), name) {
        (Some(entry), Some(name)) if !whole => argument(name, &entry, marker.syntax()),
        _ => text(marker),
    }
}

/// A whole marker with example values: `+kubebuilder:printcolumn:name="NodeName",type="string",...`.
pub fn text(marker: &Definition) -> String {
    let name = &marker.name;
    match marker.target {
        Target::Attribute(Family::Deepcopy) if name.ends_with(":interfaces") => {
            format!("+{name}=k8s.io/apimachinery/pkg/runtime.Object")
        }
        Target::Attribute(Family::Deepcopy) => format!("+{name}=true"),
        Target::Attribute(_) => format!("+{name}"),
        Target::Arguments(family) => {
            let keys = family.spec().keys.iter().filter(|key| is_typical(family, key));
            let arguments = keys
                .filter_map(|key| Some(argument(argument_name(key, name)?, &read(key)?, marker.syntax())));
            format!("+{name}:{}", arguments.collect::<Vec<_>>().join(","))
        }
        Target::Key(_, key) | Target::Item(_, key) | Target::Module(key) => match read(key) {
            Some(entry) => whole(marker, &entry),
            None => format!("+{name}"),
        },
    }
}

fn read(key: &'static KeySpec) -> Option<Entry> {
    let mut diagnostics = Diagnostics::new();
    let entry = parse_example(key, &mut diagnostics);
    diagnostics.take();
    entry
}

fn whole(marker: &Definition, entry: &Entry) -> String {
    match &entry.value {
        Value::Nested(entries) => {
            let arguments = entries.iter().filter_map(|inner| {
                Some(argument(argument_name(inner.key, &marker.name)?, inner, marker.syntax()))
            });
            let arguments = arguments.collect::<Vec<_>>().join(",");
            match marker.name.rsplit_once(':') {
                // The last part of the name is the name of the first argument.
                Some((outer, _)) if marker.syntax() == Syntax::Words => format!("+{outer}:{arguments}"),
                _ => format!("+{}:{arguments}", marker.name),
            }
        }
        _ => argument(&format!("+{}", marker.name), entry, marker.syntax()),
    }
}

/// `name=value`, or the name alone for a flag without a value.
fn argument(name: &str, entry: &Entry, syntax: Syntax) -> String {
    match value(entry, syntax) {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    }
}

fn value(entry: &Entry, syntax: Syntax) -> Option<String> {
    let list = |texts: Vec<String>| texts.join(if syntax == Syntax::Words { "," } else { ";" });
    Some(match &entry.value {
        Value::Flag if is_boolean(entry.key) => "true".to_owned(),
        Value::Bool(value) => value.value.to_string(),
        Value::Flag | Value::Invalid | Value::Nested(_) => return None,
        Value::String(text) if syntax == Syntax::Words => text.value.clone(),
        Value::String(text) => quoted(&text.value),
        Value::Strings(texts) if syntax == Syntax::Words => {
            list(texts.iter().map(|text| text.value.clone()).collect())
        }
        Value::Strings(texts) => list(texts.iter().map(|text| quoted(&text.value)).collect()),
        Value::StringMap(pairs) => list(
            pairs.iter().map(|(name, value)| quoted(&format!("{}={}", name.value, value.value))).collect(),
        ),
        Value::Integer(n) => n.value.to_string(),
        Value::Unsigned(n) => n.value.to_string(),
        Value::Number(n) => n.value.to_string(),
        Value::Json(json) if syntax == Syntax::Json => json.value.to_string(),
        Value::Json(json) => any(&json.value),
        Value::Reference(path) => format!("ref({})", path.value),
        Value::Jsons(values) => list(values.iter().map(|json| any(&json.value)).collect()),
    })
}

fn any(json: &Json) -> String {
    match json {
        Json::String(text) => quoted(text),
        Json::Empty => "{}".to_owned(),
        Json::Array(items) => format!("{{{}}}", items.iter().map(any).collect::<Vec<_>>().join(",")),
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{}:{}", quoted(name), any(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// A Go string in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
