//! Applies kube's transformations of a JSON Schema into a structural one (kube-core's `schema.rs`).
//!
//! kube moves properties and names of variants out of branches, because a structural schema has them once. If
//! that fails (kube panics) or leaves a branch that an API server refuses, [`crate::schema::union`] joins the
//! variants.

use std::collections::BTreeSet;

use schemars::Schema as JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::AddNullable;
use serde_json::{Map, Value, json};

use super::{pieces, structural};
use crate::load::Locked;
use crate::schema::{Junction, union};

type Members = Map<String, Value>;

/// Keywords of objects; a variant with one of them is an object.
const OBJECT: &[&str] = &[
    "additionalProperties",
    "maxProperties",
    "minProperties",
    "patternProperties",
    "properties",
    "propertyNames",
    "required",
];

/// Keywords of lists.
const ARRAY: &[&str] = &["additionalItems", "contains", "items", "maxItems", "minItems", "uniqueItems"];

/// Keywords that no branch may have (`ForbiddenGenerics` of apiextensions-apiserver's structural schemas).
const GENERIC: &[&str] = &[
    "additionalProperties",
    "default",
    "description",
    "example",
    "nullable",
    "title",
    "type",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// The schema of a root type as in a custom resource definition.
pub(super) fn rewrite(schema: Value, locked: Locked) -> Value {
    let Ok(mut schema) = JsonSchema::try_from(schema) else { return Value::Null };
    let settings = SchemaSettings::openapi3().with_transform(AddNullable::default());
    for transform in settings.into_generator().transforms_mut() {
        transform.transform(&mut schema);
    }
    let mut schema = schema.to_value();
    restructure(&mut schema, locked.is_kube_before(3, 1));
    fold_options(&mut schema);
    // kube 3 added `OptionalIntOrString`.
    if !locked.is_kube_before(3, 0) {
        nullable_int_or_string(&mut schema);
    }
    schema
}

/// Calls `f` for every direct subschema.
fn each_inner(schema: &mut Value, f: &mut dyn FnMut(&mut Value)) {
    let Value::Object(members) = schema else { return };
    for (key, value) in members.iter_mut() {
        match (key.as_str(), value) {
            ("not" | "additionalProperties" | "propertyNames" | "contains" | "additionalItems", inner) => {
                f(inner);
            }
            ("items" | "allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter_mut().for_each(&mut *f);
            }
            ("items", inner) => f(inner),
            ("properties" | "patternProperties", Value::Object(inner)) => {
                inner.values_mut().for_each(&mut *f);
            }
            _ => {}
        }
    }
}

/// `StructuralSchemaRewriter`
///
/// Before kube 3.1 (`is_old`), branches of one type kept it, which API servers accept for integers and texts.
fn restructure(schema: &mut Value, is_old: bool) {
    each_inner(schema, &mut |inner| restructure(inner, is_old));
    let Value::Object(members) = schema else { return };
    for key in ["oneOf", "anyOf"] {
        let Some(Value::Array(variants)) = members.get(key) else { continue };
        if is_old && is_int_or_string(members) {
            continue;
        }
        let variants = variants.clone();
        let mut hoisted = members.clone();
        if hoist(&mut hoisted, key, is_old).is_some() && is_fine(&hoisted, key) {
            *members = hoisted;
        } else {
            join(members, key, variants);
        }
    }
    close(members);
    normalize(members);
}

/// Whether it is the union of integer and text that API servers accept (`isIntOrStringAnyOfPattern`).
fn is_int_or_string(members: &Members) -> bool {
    members.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true))
        && members.get("anyOf") == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

/// Keeps the unknown fields of an object with a flattened map, and removes keywords that API servers refuse.
fn close(members: &mut Members) {
    let has_properties = members.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    if let (true, Some(Value::Bool(open))) = (has_properties, members.get("additionalProperties")) {
        if *open {
            members.insert("x-kubernetes-preserve-unknown-fields".to_string(), true.into());
        }
        members.remove("additionalProperties");
    }
    members.remove("uniqueItems");
}

/// Sorts and deduplicates names of required fields, as kube does.
fn normalize(members: &mut Members) {
    if let Some(Value::Array(required)) = members.get_mut("required") {
        let names: BTreeSet<String> = required.iter().filter_map(Value::as_str).map(str::to_string).collect();
        *required = names.into_iter().map(Value::from).collect();
        if required.is_empty() {
            members.remove("required");
        }
    }
    if members.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty) {
        members.remove("properties");
    }
}

/// Moves properties and values out of branches; `None` if kube panics. Before kube 3.1 (`is_old`), branches
/// of `anyOf` also gave their descriptions to their properties.
fn hoist(members: &mut Members, key: &str, is_old: bool) -> Option<()> {
    // An option of a non-object has its type already.
    let is_option = key == "anyOf" && option_of(members).is_some();
    let Some(Value::Array(mut variants)) = members.remove(key) else { return Some(()) };
    let is_one_of = key == "oneOf";
    for variant in &mut variants {
        if let Value::Object(variant) = variant {
            if is_option && !OBJECT.iter().any(|key| is_said(variant, key)) {
                continue;
            }
            hoist_properties(members, variant, is_one_of || is_old)?;
        }
    }
    if is_one_of {
        let mut rest = Vec::with_capacity(variants.len());
        for variant in variants {
            if !hoist_values(members, &variant)? {
                rest.push(variant);
            }
        }
        variants = rest;
    }
    if !(is_one_of && variants.is_empty()) {
        members.insert(key.to_string(), Value::Array(variants));
    }
    Some(())
}

fn hoist_properties(members: &mut Members, variant: &mut Members, describe: bool) -> Option<()> {
    if !OBJECT.iter().any(|key| is_said(variant, key)) {
        let says_more = variant.contains_key("enum")
            || ["anyOf", "oneOf"].iter().chain(ARRAY).any(|key| variant.contains_key(*key));
        if !says_more {
            variant.remove("type");
            variant.remove("description");
            variant.remove("default");
        }
        return Some(());
    }
    let description = variant.remove("description");
    let mut own = match variant.remove("properties") {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    if let (true, Some(description), 1) = (describe, description, own.len())
        && let Some(Value::Object(property)) = own.values_mut().next()
    {
        property.insert("description".to_string(), description);
    }
    if !own.is_empty() {
        let common = members.entry("properties").or_insert_with(|| json!({}));
        let common = common.as_object_mut()?;
        for (name, property) in own {
            match common.get(&name) {
                // The placeholder for a variant's field in a closed struct is empty; kube panics.
                Some(Value::Object(found)) if found.is_empty() => {
                    common.insert(name, property);
                }
                Some(found) if *found != property => return None,
                _ => {
                    common.insert(name, property);
                }
            }
        }
    }
    variant.remove("additionalProperties");
    agree_on_type(members, variant.remove("type"))
}

/// Whether a keyword is present and not empty.
fn is_said(members: &Members, key: &str) -> bool {
    match members.get(key) {
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty() || !matches!(key, "properties" | "patternProperties"),
        Some(_) => true,
        None => false,
    }
}

fn agree_on_type(members: &mut Members, kind: Option<Value>) -> Option<()> {
    let Some(kind) = kind else { return Some(()) };
    match members.get("type") {
        Some(found) => (*found == kind).then_some(()),
        None => {
            members.insert("type".to_string(), kind);
            Some(())
        }
    }
}

/// Takes the values of a variant that lists values; returns whether it did.
fn hoist_values(members: &mut Members, variant: &Value) -> Option<bool> {
    let Some(Value::Array(values)) = variant.get("enum") else { return Some(false) };
    agree_on_type(members, variant.get("type").cloned())?;
    if let Value::Array(all) = members.entry("enum").or_insert_with(|| json!([])) {
        all.extend(values.iter().cloned());
    }
    Some(true)
}

/// Whether an API server accepts the branches, and the schema has a type.
fn is_fine(members: &Members, key: &str) -> bool {
    let Some(Value::Array(branches)) = members.get(key) else { return true };
    let is_option = key == "anyOf" && option_of(members).is_some();
    if is_option {
        return true;
    }
    let open = ["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"];
    let typed = members.contains_key("type") || open.iter().any(|key| members.contains_key(*key));
    typed && branches.iter().all(is_branch)
}

/// Whether an API server accepts it as a branch.
fn is_branch(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return !schema.is_boolean() };
    if members.keys().any(|key| GENERIC.contains(&key.as_str())) {
        return false;
    }
    let mut fine = true;
    each_inner(&mut schema.clone(), &mut |inner| fine &= is_branch(inner));
    fine
}

/// Joins variants that kube cannot join.
fn join(members: &mut Members, key: &str, variants: Vec<Value>) {
    members.remove(key);
    let junction = if key == "oneOf" { Junction::OneOf } else { Junction::AnyOf };
    let alternatives = variants.into_iter().map(|mut variant| {
        // A variant's description does not fit the union; kube moves it to the variant's only property.
        let members = pieces::object(&mut variant);
        members.remove("title");
        if let Some(description) = members.remove("description")
            && let Some(Value::Object(properties)) =
                members.get_mut("properties").filter(|_| junction == Junction::OneOf)
            && let (1, Some(Value::Object(property))) = (properties.len(), properties.values_mut().next())
        {
            property.insert("description".to_string(), description);
        }
        // A closed object would refuse the fields of the others.
        if variant.get("additionalProperties") == Some(&Value::Bool(false)) {
            pieces::object(&mut variant).remove("additionalProperties");
        }
        structural::schema(variant)
    });
    // `union` drops a keyword that only some variants have and branches may not have.
    let (joined, _) = union(alternatives.collect(), junction);
    let Value::Object(joined) = joined.to_value() else { return };
    for (key, value) in joined {
        match (members.get_mut(&key), value) {
            (Some(Value::Object(ours)), Value::Object(theirs)) => {
                for (name, property) in theirs {
                    ours.entry(name).or_insert(property);
                }
            }
            (Some(Value::Array(ours)), Value::Array(theirs)) if key == "required" => ours.extend(theirs),
            (Some(_), _) => {}
            (None, value) => {
                members.insert(key, value);
            }
        }
    }
}

/// `OptionalEnum`: replaces an option by its content, which may be null.
fn fold_options(schema: &mut Value) {
    each_inner(schema, &mut fold_options);
    let Value::Object(members) = schema else { return };
    if let Some(inner) = option_of(members) {
        members.remove("anyOf");
        members.extend(inner);
        members.insert("nullable".to_string(), true.into());
    }
}

/// The content of an option, if the schema has nothing else.
fn option_of(members: &Members) -> Option<Members> {
    let Some(Value::Array(branches)) = members.get("anyOf") else { return None };
    let [Value::Object(first), Value::Object(second)] = &branches[..] else { return None };
    let is_null = second.get("enum") == Some(&json!([null])) && second.get("nullable") == Some(&json!(true));
    (is_null && !first.contains_key("nullable")).then(|| first.clone())
}

/// `OptionalIntOrString`
fn nullable_int_or_string(schema: &mut Value) {
    each_inner(schema, &mut nullable_int_or_string);
    let Value::Object(members) = schema else { return };
    let required: Vec<String> = members
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_string).collect())
        .unwrap_or_default();
    let Some(Value::Object(properties)) = members.get_mut("properties") else { return };
    for (name, property) in properties.iter_mut().filter(|(name, _)| !required.contains(name)) {
        let _ = name;
        let Value::Object(property) = property else { continue };
        if property.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
            property.entry("nullable").or_insert(Value::Bool(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(schema: Value) -> Value {
        rewrite(schema, Locked::default())
    }

    #[test]
    fn properties_of_variants_are_merged() {
        let schema = rewritten(json!({"oneOf": [
            {"type": "object", "description": "A.", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
            {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"], "additionalProperties": false},
        ]}));
        let expected = json!({
            "type": "object",
            "properties": {"a": {"type": "string", "description": "A."}, "b": {"type": "boolean"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn branches_of_int_or_string_keep_their_types_before_kube_3_1() {
        let schema =
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
        assert_eq!(rewritten(schema.clone())["anyOf"], json!([{}, {}]));
        let locked = Locked { kube: Some((3, 0)), ..Locked::default() };
        assert_eq!(rewrite(schema.clone(), locked), schema);
    }

    #[test]
    fn described_constants_become_an_enum() {
        let schema = rewritten(json!({"anyOf": [
            {"oneOf": [{"type": "string", "const": "A", "description": "A."}, {"type": "string", "const": "B"}]},
            {"type": "null"},
        ]}));
        assert_eq!(schema, json!({"type": "string", "enum": ["A", "B"], "nullable": true}));
    }

    #[test]
    fn differing_constants_of_branches_are_merged_into_the_property() {
        let schema = rewritten(json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"type": "string", "const": "a"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"type": "string", "const": "b"}}, "required": ["kind"]},
        ]}));
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["kind"]["type"], "string");
        assert_eq!(schema["oneOf"].as_array().map(Vec::len), Some(2));
        assert!(is_fine(schema.as_object().unwrap(), "oneOf"));
    }
}
