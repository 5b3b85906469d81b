//! What a schema checks, in words.

use serde_json::{Number, Value};

use super::{Inline, Target, Text, code, plain, text};
use crate::schema::{Additional, Rule, Schema};

/// Everything that the schema itself says, and what it says of items and values without fields of their own.
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

/// Rules of what stands inside. What has fields is described where they are.
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

fn own(schema: &Schema, out: &mut Vec<Text>) {
    if let Some(title) = &schema.title {
        out.push(vec![plain("called "), plain(format!("\u{201c}{title}\u{201d}"))]);
    }
    numbers(schema, out);
    lengths(schema, out);
    if let Some(pattern) = &schema.pattern {
        say(out, "matches the pattern ", pattern, "");
    }
    if let Some(values) = &schema.enum_ {
        let mut text = vec![plain("one of ")];
        listed(values.iter().map(Value::to_string), &mut text);
        out.push(text);
    }
    if schema.nullable {
        out.push(vec![plain("may be "), code("null")]);
    }
    lists(schema, out);
    if schema.embedded_resource {
        say(out, "a whole object, with ", "apiVersion", " and kind");
    }
    if schema.preserve_unknown_fields {
        out.push(vec![plain("fields that are not described here are kept")]);
    }
    if let Some(docs) = &schema.external_docs {
        out.extend(external(docs.description.as_deref(), docs.url.as_deref()));
    }
    if let Some(example) = &schema.example {
        say(out, "for example ", example.to_string(), "");
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

fn numbers(schema: &Schema, out: &mut Vec<Text>) {
    let bound = |bound: &Option<Number>, exclusive, beyond: &str, up_to: &str, out: &mut Vec<Text>| {
        if let Some(bound) = bound {
            say(out, if exclusive { beyond } else { up_to }, bound.to_string(), "");
        }
    };
    bound(&schema.minimum, schema.exclusive_minimum, "greater than ", "at least ", out);
    bound(&schema.maximum, schema.exclusive_maximum, "less than ", "at most ", out);
    bound(&schema.multiple_of, false, "", "a multiple of ", out);
}

fn lengths(schema: &Schema, out: &mut Vec<Text>) {
    for (least, most, one, many) in [
        (schema.min_length, schema.max_length, " character", " characters"),
        (schema.min_items, schema.max_items, " item", " items"),
        (schema.min_properties, schema.max_properties, " field", " fields"),
    ] {
        let noun = |count: u64| if count == 1 { one } else { many };
        match (least, most) {
            (Some(least), Some(most)) if least == most => {
                say(out, "exactly ", least.to_string(), noun(least));
            }
            _ => {
                if let Some(least) = least {
                    say(out, "at least ", least.to_string(), noun(least));
                }
                if let Some(most) = most {
                    say(out, "at most ", most.to_string(), noun(most));
                }
            }
        }
    }
    if schema.unique_items {
        out.push(vec![plain("no item stands there twice")]);
    }
}

/// How lists and maps are merged when several appliers own them.
fn lists(schema: &Schema, out: &mut Vec<Text>) {
    match schema.list_type.as_deref() {
        Some("map") => {
            let mut text = vec![plain("a map: items are told apart by ")];
            listed(schema.list_map_keys.iter().cloned(), &mut text);
            out.push(text);
        }
        Some("set") => out.push(vec![plain("a set: no item stands there twice")]),
        Some("atomic") => out.push(vec![plain("atomic: applied as a whole")]),
        _ => {}
    }
    match schema.map_type.as_deref() {
        Some("atomic") => out.push(vec![plain("atomic: applied as a whole")]),
        Some("granular") => out.push(vec![plain("granular: each field is applied by itself")]),
        _ => {}
    }
}

fn listed(values: impl Iterator<Item = String>, text: &mut Text) {
    for (at, value) in values.enumerate() {
        if at > 0 {
            text.push(plain(", "));
        }
        text.push(code(value));
    }
}

/// `allOf` is as if it stood in the schema; the others are alternatives.
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

/// The fields of a branch that asks for fields and nothing else.
fn only_required(branch: &Schema) -> Option<String> {
    let alone = Schema { required: branch.required.clone(), ..Schema::default() };
    let names: Vec<&str> = branch.required.iter().map(String::as_str).collect();
    (!names.is_empty() && *branch == alone).then(|| names.join(" and "))
}

/// The rules of a branch, if words can say all of it.
fn described(branch: &Schema) -> Option<Vec<Text>> {
    let inside = match &branch.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    };
    let is_told = branch.items.iter().chain(inside).all(|inner| described(inner).is_some());
    // What has no words here; of fields only a link to their type would tell.
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
