//! Describes the checks of a schema in words.

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Kind, Limit};
use serde_json::Value;

use super::{Inline, Target, Text, code, plain, text};
use crate::schema::{Additional, Rule, Schema};

/// The checks of the schema itself, and of items and values without fields of their own.
pub(super) fn rules(schema: &Schema) -> Vec<Text> {
    let mut out = Vec::new();
    own(schema, &mut out);
    branches(schema, &mut out);
    if let Some(items) = &schema.items {
        inner("Each item: ", items, &mut out);
    }
    if let Some(Additional::Schema(values)) = &schema.additional_properties {
        inner("Each value: ", values, &mut out);
    }
    out.extend(schema.validations.iter().map(rule));
    out
}

/// The rules of items or values. A schema with fields is described at its fields.
fn inner(whose: &str, schema: &Schema, out: &mut Vec<Text>) {
    if schema.properties.is_empty() {
        out.extend(rules(schema).into_iter().map(|mut text| {
            text.insert(0, plain(whose));
            text
        }));
    }
}

fn say(out: &mut Vec<Text>, before: &str, value: impl Into<String>, after: &str) {
    let mut text = vec![plain(before), code(value)];
    if !after.is_empty() {
        text.push(plain(after));
    }
    out.push(text);
}

/// The words of each keyword, in the order of the table.
fn own(schema: &Schema, out: &mut Vec<Text>) {
    for keyword in KEYWORDS.iter().filter(|keyword| keyword.is_set(schema)) {
        let value = || match keyword.value(schema) {
            Value::String(text) if keyword.kind == Kind::Text => text,
            value => value.to_string(),
        };
        match (keyword.name, keyword.words) {
            (_, Some(words)) if keyword.kind == Kind::Flag => out.push(vec![plain(words)]),
            (_, Some(words)) => say(out, words, value(), ""),
            (_, None) if keyword.limit.is_some() => size(keyword, schema, out),
            ("title", _) => {
                let title = schema.title.as_deref().unwrap_or_default();
                out.push(vec![plain("called "), plain(format!("\u{201c}{title}\u{201d}"))]);
            }
            ("minimum", _) => {
                say(out, if schema.exclusive_minimum { "greater than " } else { "at least " }, value(), "");
            }
            ("maximum", _) => {
                say(out, if schema.exclusive_maximum { "less than " } else { "at most " }, value(), "");
            }
            ("enum", _) => {
                let mut text = vec![plain("one of ")];
                listed(schema.allowed_values().iter().map(Value::to_string), &mut text);
                out.push(text);
            }
            ("nullable", _) => out.push(vec![plain("may be "), code("null")]),
            ("x-kubernetes-list-type", _) => out.extend(list_type(schema)),
            ("x-kubernetes-map-type", _) => out.extend(map_type(schema)),
            ("x-kubernetes-embedded-resource", _) => {
                say(out, "a whole object, with ", "apiVersion", " and kind");
            }
            ("externalDocs", _) => {
                let docs = schema.external_docs.as_ref();
                out.extend(docs.and_then(|docs| external(docs.description.as_deref(), docs.url.as_deref())));
            }
            _ => {}
        }
    }
}

fn external(description: Option<&str>, address: Option<&str>) -> Option<Text> {
    let address = address?;
    let label = description.unwrap_or(address).to_string();
    let link = match text::url(address) {
        Some((url, length)) if length == address.len() => Inline::Link(label, Target::Url(url.to_string())),
        _ => code(address),
    };
    Some(vec![plain("see "), link])
}

/// A bound of a size; equal bounds are described once.
fn size(keyword: &Keyword, schema: &Schema, out: &mut Vec<Text>) {
    let (Some(limit), Some(count)) = (keyword.limit, keyword.count(schema)) else { return };
    let [one, many] = limit.measure().nouns();
    let noun = format!(" {}", if count == 1 { one } else { many });
    let others = Keyword::limits(limit.measure()).filter(|other| other.limit != keyword.limit);
    let is_exact = others.into_iter().any(|other| other.count(schema) == Some(count));
    match limit {
        Limit::Least(_) if is_exact => say(out, "exactly ", count.to_string(), &noun),
        Limit::Least(_) => say(out, "at least ", count.to_string(), &noun),
        Limit::Most(_) if is_exact => {}
        Limit::Most(_) => say(out, "at most ", count.to_string(), &noun),
    }
}

/// The merge strategy of a list with several appliers.
fn list_type(schema: &Schema) -> Option<Text> {
    Some(match schema.list_type.as_deref()? {
        "map" => {
            let mut text = vec![plain("a map: items are told apart by ")];
            listed(schema.list_map_keys.iter().cloned(), &mut text);
            text
        }
        "set" => vec![plain("a set: no item stands there twice")],
        "atomic" => vec![plain("atomic: applied as a whole")],
        _ => return None,
    })
}

/// The merge strategy of a map with several appliers.
fn map_type(schema: &Schema) -> Option<Text> {
    Some(match schema.map_type.as_deref()? {
        "atomic" => vec![plain("atomic: applied as a whole")],
        "granular" => vec![plain("granular: each field is applied by itself")],
        _ => return None,
    })
}

fn listed(values: impl Iterator<Item = String>, text: &mut Text) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            text.push(plain(", "));
        }
        text.push(code(value));
    }
}

/// Describes branches: `allOf` like the schema itself, the others as alternatives.
fn branches(schema: &Schema, out: &mut Vec<Text>) {
    for branch in &schema.all_of {
        match described(branch) {
            Some(rules) => out.extend(rules),
            None => say(out, "matches ", branch.to_value().to_string(), ""),
        }
    }
    if !schema.int_or_string {
        alternatives("at least one of ", &schema.any_of, out);
    }
    alternatives("exactly one of ", &schema.one_of, out);
    if let Some(not) = &schema.not {
        say(out, "does not match ", not.to_value().to_string(), "");
    }
}

fn alternatives(quantity: &str, branches: &[Schema], out: &mut Vec<Text>) {
    if branches.is_empty() {
        return;
    }
    let fields: Option<Vec<String>> = branches.iter().map(only_required).collect();
    let text = match fields {
        Some(fields) => {
            let mut text = vec![plain(quantity)];
            listed(fields.into_iter(), &mut text);
            text.push(plain(" is there"));
            text
        }
        None => {
            let mut text = vec![plain(quantity), plain("these holds: ")];
            listed(branches.iter().map(|branch| branch.to_value().to_string()), &mut text);
            text
        }
    };
    out.push(text);
}

/// The fields of a branch that only requires fields.
fn only_required(branch: &Schema) -> Option<String> {
    let alone = Schema { required: branch.required.clone(), ..Schema::default() };
    let names: Vec<&str> = branch.required.iter().map(String::as_str).collect();
    (!names.is_empty() && *branch == alone).then(|| names.join(" and "))
}

/// The rules of a branch, if words can express it completely.
fn described(branch: &Schema) -> Option<Vec<Text>> {
    let inside = match &branch.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    };
    let is_told = branch.items.iter().chain(inside).all(|inner| described(inner).is_some());
    // The parts without words; fields need a link to their type.
    let rest = Schema {
        type_: branch.type_.clone(),
        format: branch.format.clone(),
        default: branch.default.clone(),
        required: branch.required.clone(),
        properties: branch.properties.clone(),
        not: branch.not.clone(),
        int_or_string: branch.int_or_string,
        additional_properties: branch.additional_properties.clone().filter(|_| inside.is_none()),
        ..Schema::default()
    };
    (is_told && rest == Schema::default()).then(|| rules(branch))
}

/// A rule in the expression language.
fn rule(rule: &Rule) -> Text {
    let expression = rule.rule.trim();
    if expression == "self == oldSelf" && rule.message.as_deref().is_none_or(|m| m == "field is immutable") {
        return vec![plain("cannot be changed once set")];
    }
    if let Some(message) =
        rule.message.as_deref().filter(|message| message.ends_with("is immutable once set"))
        && expression.starts_with("!has(oldSelf.")
    {
        return vec![plain(message), plain(": it cannot be removed")];
    }
    let mut text = Text::new();
    match (&rule.message, &rule.message_expression) {
        (Some(message), _) => {
            text.extend([plain(message.trim().to_string()), plain(": ")]);
        }
        (None, _) => text.push(plain("rule: ")),
    }
    text.push(code(expression));
    if expression == "self == oldSelf" {
        text.push(plain(" (cannot be changed once set)"));
    }
    if let (None, Some(message)) = (&rule.message, &rule.message_expression) {
        text.extend([plain(", with the message "), code(message.trim())]);
    }
    if let Some(path) = &rule.field_path {
        text.extend([plain(", reported at "), code(path)]);
    }
    if let Some(reason) = &rule.reason {
        text.extend([plain(", as "), code(reason)]);
    }
    if rule.optional_old_self == Some(true) {
        text.push(plain(", also for new objects"));
    }
    text
}
