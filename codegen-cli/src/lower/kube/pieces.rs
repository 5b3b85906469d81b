//! Combines JSON Schemas as schemars does: options, flattened objects, tags, constraints by type.
//!
//! Schemas are plain JSON: objects, `true` (anything) and `false` (nothing). The rules are those of schemars' `_private`
//! module.

use serde_json::{Map, Value, json};

/// The schema as an object: `true` admits anything, `false` nothing.
pub(super) fn object(schema: &mut Value) -> &mut Map<String, Value> {
    match schema {
        Value::Object(_) => {}
        Value::Bool(false) => *schema = json!({"not": {}}),
        _ => *schema = json!({}),
    }
    match schema {
        Value::Object(members) => members,
        _ => unreachable!("it has just been made an object"),
    }
}

/// Sets a keyword.
pub(super) fn insert(schema: &mut Value, key: &str, value: impl Into<Value>) {
    object(schema).insert(key.to_string(), value.into());
}

/// Whether the schema names the type.
pub(super) fn has_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(found)) => found == name,
        Some(Value::Array(found)) => found.iter().any(|found| found == name),
        _ => false,
    }
}

/// Sets a keyword that applies only to values of one type.
pub(super) fn constrain(schema: &mut Value, concerns: &str, key: &str, value: impl Into<Value>) {
    if has_type(schema, concerns) || (concerns == "number" && has_type(schema, "integer")) {
        insert(schema, key, value);
    }
}

/// Adds a property.
pub(super) fn property(schema: &mut Value, name: &str, is_optional: bool, value: Value) {
    let members = object(schema);
    if let Value::Object(properties) = members.entry("properties").or_insert_with(|| json!({})) {
        properties.insert(name.to_string(), value);
    }
    if !is_optional {
        require(schema, name);
    }
}

/// Adds a required property.
pub(super) fn require(schema: &mut Value, name: &str) {
    if let Value::Array(required) = object(schema).entry("required").or_insert_with(|| json!([])) {
        required.push(name.into());
    }
}

fn has_branches(members: &Map<String, Value>) -> bool {
    ["if", "allOf", "anyOf", "oneOf", "$ref"].iter().any(|key| members.contains_key(*key))
}

/// The schema of an `Option`.
pub(super) fn nullable(mut schema: Value) -> Value {
    let none = || json!({"type": "null"});
    let members = match &mut schema {
        Value::Bool(true) => return schema,
        Value::Object(members) => members,
        _ => return none(),
    };
    if let (1, Some(Value::Array(branches))) = (members.len(), members.get("anyOf"))
        && branches.iter().any(|branch| has_type(branch, "null"))
    {
        return schema;
    }
    if has_branches(members) {
        return json!({"anyOf": [schema, none()]});
    }
    match members.get_mut("type") {
        Some(Value::Array(types)) if !types.iter().any(|name| name == "null") => types.push("null".into()),
        Some(Value::String(name)) if name != "null" => {
            let both = json!([name, "null"]);
            members.insert("type".to_string(), both);
        }
        _ => {}
    }
    match (members.remove("const"), members.get_mut("enum")) {
        (Some(Value::Null), _) => {}
        (Some(value), _) => {
            members.insert("enum".to_string(), json!([value, null]));
        }
        (None, Some(Value::Array(values))) if !values.contains(&Value::Null) => values.push(Value::Null),
        _ => {}
    }
    schema
}

/// The schema of a flattened field without its `Option`.
pub(super) fn flattened(mut schema: Value, is_optional: bool) -> Value {
    if let Some(names) = take_unit_variants(&mut schema)
        && let Value::Array(branches) = object(&mut schema).entry("oneOf").or_insert_with(|| json!([]))
    {
        // serde writes a flattened unit variant as a field that is null.
        branches.extend(names.iter().filter_map(Value::as_str).map(
            |name| json!({"type": "object", "properties": {name: {"type": "null"}}, "required": [name]}),
        ));
    }
    if is_optional {
        make_optional(&mut schema);
    }
    allow_unknown(&mut schema);
    schema
}

/// The same in schemars 1.0 (`json_schema_for_flatten` of 1.0.5), which keeps unit variants and branches.
pub(super) fn flattened_1_0(mut schema: Value, is_optional: bool) -> Value {
    if is_optional {
        object(&mut schema).remove("required");
    }
    allow_unknown(&mut schema);
    schema
}

/// Removes and returns the names of unit variants in the schema of an externally tagged enum.
fn take_unit_variants(schema: &mut Value) -> Option<Vec<Value>> {
    let is_text = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("string");
    if is_text(schema)
        && let Some(Value::Array(names)) = object(schema).remove("enum")
    {
        object(schema).remove("type");
        return Some(names);
    }
    let branches = schema.get_mut("oneOf")?.as_array_mut()?;
    let first = branches.first_mut()?;
    if !is_text(first) {
        return None;
    }
    let Value::Array(names) = first.as_object_mut()?.remove("enum")? else { return None };
    branches.remove(0);
    Some(names)
}

fn make_optional(schema: &mut Value) {
    let members = object(schema);
    members.remove("required");
    if let Some(branches) = members.remove("oneOf") {
        flatten(schema, json!({"anyOf": [{"oneOf": branches}, {}]}));
    }
    if let Some(Value::Array(branches)) = object(schema).get_mut("anyOf")
        && !branches.contains(&json!({}))
    {
        branches.push(json!({}));
    }
}

/// Removes the refusal of unknown fields, which the enclosing struct decides. Returns whether the schema
/// changed.
fn allow_unknown(schema: &mut Value) -> bool {
    let Value::Object(members) = schema else { return false };
    let mut changed = false;
    for key in ["additionalProperties", "unevaluatedProperties"] {
        if members.get(key) == Some(&Value::Bool(false)) {
            members.remove(key);
            changed = true;
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = members.get_mut(key) {
            for branch in branches {
                changed |= allow_unknown(branch);
            }
        }
    }
    changed
}

/// The schema of an internally tagged variant's content, inlined: its branches allow the tag.
pub(super) fn tagged_content(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        for key in ["allOf", "anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = members.get_mut(key) {
                for branch in branches {
                    allow_unknown(branch);
                }
            }
        }
    }
    schema
}

/// Adds a tag to the schema of a variant's content.
pub(super) fn tag(schema: &mut Value, tag: &str, name: &str, deny_unknown_fields: bool) {
    let members = object(schema);
    let is_unit = members.get("type").and_then(Value::as_str) == Some("null");
    members.insert("type".to_string(), "object".into());
    if let Value::Object(properties) = members.entry("properties").or_insert_with(|| json!({})) {
        properties.insert(tag.to_string(), json!({"type": "string", "const": name}));
    }
    if let Value::Array(required) = members.entry("required").or_insert_with(|| json!([])) {
        required.insert(0, tag.into());
    }
    if deny_unknown_fields && is_unit {
        members.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

/// Merges a flattened schema into that of the enclosing struct.
pub(super) fn flatten(schema: &mut Value, other: Value) {
    let mut theirs = match other {
        Value::Bool(true) => {
            let members = object(schema);
            if !members.contains_key("additionalProperties") && !members.contains_key("unevaluatedProperties")
            {
                let key =
                    if has_branches(members) { "unevaluatedProperties" } else { "additionalProperties" };
                members.insert(key.to_string(), Value::Bool(true));
            }
            return;
        }
        Value::Object(members) => members,
        _ => return,
    };
    let ours = object(schema);
    rename_additional(ours, &theirs);
    rename_additional(&mut theirs, ours);
    for (key, value) in theirs {
        flatten_keyword(ours, key, value);
    }
}

fn rename_additional(members: &mut Map<String, Value>, other: &Map<String, Value>) {
    if (other.contains_key("unevaluatedProperties") || has_branches(other))
        && let Some(additional) = members.remove("additionalProperties")
    {
        members.insert("unevaluatedProperties".to_string(), additional);
    }
}

fn flatten_keyword(members: &mut Map<String, Value>, key: String, value: Value) {
    let Some(found) = members.get_mut(&key) else {
        members.insert(key, value);
        return;
    };
    match (key.as_str(), found, value) {
        ("required" | "allOf", Value::Array(ours), Value::Array(theirs)) => ours.extend(theirs),
        ("properties" | "patternProperties", Value::Object(ours), Value::Object(theirs)) => {
            ours.extend(theirs);
        }
        ("oneOf" | "anyOf", _, theirs) => {
            let ours = members.remove(&key).unwrap_or_default();
            let both = json!([{&key: ours}, {&key: theirs}]);
            flatten_keyword(members, "allOf".to_string(), both);
        }
        _ => {}
    }
}

/// The title and description in a doc comment: a heading is the title.
pub(super) fn documentation(text: &str) -> (&str, &str) {
    let text = text.trim_ascii();
    if !text.starts_with('#') {
        return ("", text);
    }
    let (title, description) = text.split_once('\n').unwrap_or((text, ""));
    (title.trim_start_matches('#').trim_ascii(), description.trim_ascii())
}

/// Documentation with trimmed lines, as in schemars 0.8 (`attr/doc.rs`).
pub(super) fn trimmed(text: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').map(str::trim).skip_while(|line| line.is_empty()).collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    if lines.iter().all(|line| line.starts_with('*')) {
        lines.iter_mut().for_each(|line| *line = line[1..].trim());
    }
    lines.join("\n")
}

/// A description with each paragraph on one line, as in schemars 0.8.
pub(super) fn paragraphs(text: &str) -> String {
    let lines = text.trim().split("\n\n").map(|paragraph| paragraph.trim().replace('\n', " "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_nullable() {
        assert_eq!(nullable(json!({"type": "string"})), json!({"type": ["string", "null"]}));
        assert_eq!(
            nullable(json!({"type": "string", "const": "a"})),
            json!({"type": ["string", "null"], "enum": ["a", null]})
        );
        assert_eq!(nullable(json!(true)), json!(true));
        assert_eq!(nullable(json!({"oneOf": []})), json!({"anyOf": [{"oneOf": []}, {"type": "null"}]}));
        let twice = json!({"anyOf": [{"oneOf": []}, {"type": "null"}]});
        assert_eq!(nullable(twice.clone()), twice);
    }

    #[test]
    fn headings_are_titles() {
        assert_eq!(documentation("  a\nb \n"), ("", "a\nb"));
        assert_eq!(documentation("# A title #\n\ntext"), ("A title #", "text"));
        assert_eq!(documentation("##"), ("", ""));
    }

    #[test]
    fn paragraphs_of_schemars_0_8_are_lines() {
        let text = trimmed("\n A word\n   and another.\n\n\n\n  More.\n");
        assert_eq!(paragraphs(&text), "A word and another.\n\nMore.");
        assert_eq!(trimmed("* starred\n* text"), "starred\ntext");
    }

    #[test]
    fn flattened_branches_are_combined_by_all_of() {
        let mut schema = json!({"oneOf": [1]});
        flatten(&mut schema, json!({"oneOf": [2], "required": ["a"]}));
        assert_eq!(schema, json!({"allOf": [{"oneOf": [1]}, {"oneOf": [2]}], "required": ["a"]}));
    }

    #[test]
    fn flattened_unit_variants_are_null() {
        let schema = flattened(json!({"type": "string", "enum": ["a"]}), false);
        let branch = json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]});
        assert_eq!(schema, json!({"oneOf": [branch]}));
    }
}
