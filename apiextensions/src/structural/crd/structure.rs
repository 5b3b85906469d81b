//! The rules that make a schema structural.

use std::sync::Arc;

use crate::schema::{Additional, KEYWORDS, Schema};
use crate::structural::Path;
use crate::structural::cause::Cause;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The faults of a schema that is not structural, sorted by text.
#[must_use]
pub fn validate_structural(path: &Path, schema: &Schema) -> Vec<Cause> {
    let mut causes = Vec::new();
    if conversion_fault(schema).is_some() {
        return causes;
    }
    check(schema, Level::Root, path, &mut causes);
    complete(schema, path, &mut causes);
    causes.sort_by_key(Cause::to_string);
    causes
}

/// Keywords without a place in a structural schema, in the order in which the server looks for them, with its names of them.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("id", "id"),
    ("$schema", "schema"),
    ("$ref", "$ref"),
    ("patternProperties", "patternProperties"),
    ("dependencies", "dependencies"),
    ("additionalItems", "additionalItems"),
    ("definitions", "definitions"),
];

/// Why the server cannot convert the schema, and so does not look at its structure. Source: `NewStructural` of
/// apiextensions-apiserver's pkg/apiserver/schema/convert.go.
pub(super) fn conversion_fault(schema: &Schema) -> Option<String> {
    let refused = |keyword: &str| schema.refused.iter().any(|refused| refused == keyword);
    if let Some((_, name)) = UNSUPPORTED.iter().find(|(keyword, _)| refused(keyword)) {
        return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
    }
    if let Some(fault) = schema.junctions().find_map(|(_, branch)| conversion_fault(branch)) {
        return Some(fault);
    }
    if refused("x-kubernetes-preserve-unknown-fields") {
        return Some(
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned(),
        );
    }
    if refused("items") {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    schema.children().find_map(|(_, child)| conversion_fault(child))
}

fn check(schema: &Schema, level: Level, path: &Path, causes: &mut Vec<Cause>) {
    if schema.is_type("array") && schema.items.is_none() {
        causes.push(Cause::required(path.child("items"), "must be specified"));
    }
    if let Some(items) = &schema.items {
        check(items, Level::Item, &path.child("items"), causes);
    }
    let properties = path.child("properties");
    for (name, property) in &schema.properties {
        check(property, Level::Field, &properties.key(name), causes);
    }
    if let Some(additional) = &schema.additional_properties {
        let below = path.child("additionalProperties");
        if level == Level::Root {
            causes.push(Cause::forbidden(&below, "must not be used at the root"));
        }
        if let Additional::Schema(all) = additional {
            check(all, Level::Field, &below, causes);
        }
    }
    check_extensions(schema, path, causes);
    check_values(schema, is_int_or_string(&schema.any_of), starts_with_int_or_string(schema), path, causes);
    check_type(schema, level, path, causes);
    check_meta(schema, level, path, causes);
}

fn check_extensions(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let detail = "must be false if x-kubernetes-int-or-string is true";
    if schema.int_or_string && schema.preserve_unknown_fields {
        causes.push(Cause::invalid(path.child("x-kubernetes-preserve-unknown-fields"), true, detail));
    }
    if schema.int_or_string && schema.embedded_resource {
        causes.push(Cause::invalid(path.child("x-kubernetes-embedded-resource"), true, detail));
    }
}

fn check_type(schema: &Schema, level: Level, path: &Path, causes: &mut Vec<Cause>) {
    let type_ = schema.type_name();
    let below = || path.child("type");
    if schema.embedded_resource && type_ != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(match type_ {
            "" => Cause::required(below(), detail),
            type_ => Cause::invalid(below(), type_, detail),
        });
    } else if type_.is_empty() && !schema.int_or_string && !schema.preserve_unknown_fields {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        causes.push(Cause::required(below(), detail));
    }
    if schema.embedded_resource && schema.additional_properties.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        causes.push(Cause::forbidden(path.child("additionalProperties"), detail));
    }
    if level == Level::Root && !matches!(type_, "" | "object") {
        causes.push(Cause::invalid(below(), type_, "must be object at the root"));
    }
}

/// `kind`, `apiVersion` and `metadata` belong to the server; a schema may restrict names only.
fn check_meta(schema: &Schema, level: Level, path: &Path, causes: &mut Vec<Cause>) {
    let is_resource = level == Level::Root || schema.embedded_resource;
    let properties = || path.child("properties");
    for name in ["kind", "apiVersion"] {
        if let Some(property) = schema.properties.get(name).filter(|p| is_resource && !p.is_type("string")) {
            let field = properties().key(name).child("type");
            causes.push(Cause::invalid(field, property.type_name(), "must be string"));
        }
    }
    if let Some(metadata) = schema.properties.get("metadata") {
        let field = properties().key("metadata");
        if is_resource && !metadata.is_type("object") {
            causes.push(Cause::invalid(field.child("type"), metadata.type_name(), "must be object"));
        }
        if level == Level::Root && !restricts_names_only(metadata) {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            causes.push(Cause::forbidden(field, detail));
        }
    }
    let free = schema.preserve_unknown_fields || !schema.properties.is_empty();
    if schema.embedded_resource && !free {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        causes.push(Cause::required(path.child("properties"), detail));
    }
}

fn restricts_names_only(metadata: &Schema) -> bool {
    let mut bare = metadata.clone();
    if bare.properties.keys().all(|name| name == "name" || name == "generateName") {
        bare.properties.clear();
    }
    bare.type_ = None;
    bare.default = None;
    (bare.example, bare.external_docs) = (None, None);
    bare == Schema::default()
}

fn is_int_or_string(any_of: &[Schema]) -> bool {
    *any_of == ["integer", "string"].map(Schema::of_type)
}

fn starts_with_int_or_string(schema: &Schema) -> bool {
    schema.all_of.first().is_some_and(|first| is_int_or_string(&first.any_of))
}

/// Schemas in junctors may restrict values, not shapes.
fn check_values(
    schema: &Schema,
    skip_any_of: bool,
    skip_first_all_of: bool,
    path: &Path,
    causes: &mut Vec<Cause>,
) {
    for (name, branch) in schema.junctions() {
        if skip_any_of && name.starts_with("anyOf") {
            continue;
        }
        let skip_below = skip_first_all_of && name == "allOf[0]";
        check_nested(branch, skip_below, &path.child(&name), causes);
    }
    if let Some((pattern, error)) = schema.pattern.as_ref().and_then(|p| Some((p.source(), p.error()?))) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid(path.child("pattern"), pattern, detail));
    }
}

fn check_nested(schema: &Schema, skip_any_of: bool, path: &Path, causes: &mut Vec<Cause>) {
    check_values(schema, skip_any_of, false, path, causes);
    if let Some(items) = &schema.items {
        check_nested(items, false, &path.child("items"), causes);
    }
    for (name, property) in &schema.properties {
        check_nested(property, false, &path.child("properties").key(name), causes);
    }
    let forbidden = KEYWORDS.iter().filter_map(|keyword| Some((keyword, keyword.in_junctors?)));
    for (keyword, instead) in forbidden.filter(|(keyword, _)| keyword.is_set(schema)) {
        causes
            .push(Cause::forbidden(path.child(keyword.name), format!("must be {instead} to be structural")));
    }
    if schema.properties.contains_key("metadata") {
        let field = path.child("properties").key("metadata");
        causes.push(Cause::forbidden(field, "must not be specified in a nested context"));
    }
}

/// Every field in a junctor at the root must be specified outside of it as well.
fn complete(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    for (name, branch) in schema.junctions() {
        complete_nested(branch, Some(schema), path, &path.child(&name), causes);
    }
}

fn complete_nested(values: &Schema, shape: Option<&Schema>, at: &Path, from: &Path, causes: &mut Vec<Cause>) {
    let Some(shape) = shape else {
        causes.push(Cause::required(at, format!("because it is defined in {from}")));
        return;
    };
    for (name, branch) in values.junctions() {
        complete_nested(branch, Some(shape), at, &from.child(&name), causes);
    }
    if let Some(items) = &values.items {
        let (at, from) = (at.child("items"), from.child("items"));
        complete_nested(items, shape.items.as_deref(), &at, &from, causes);
    }
    for (name, property) in &values.properties {
        let at = at.child("properties").key(name);
        let from = from.child("properties").key(name);
        complete_nested(property, shape.properties.get(name).map(Arc::as_ref), &at, &from, causes);
    }
}
