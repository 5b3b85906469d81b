//! Rules of schemars 0.8.22 that those of schemars 1 replace (`schemars/src/flatten.rs`, `_private.rs`, and
//! `schemars_derive/src`).

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::pieces;
use super::types::Dialect;
use crate::syntax::TypeExpr;
use crate::syntax::kube::{Body, DefaultExpr, Derived, Field, With};

/// The types of values in the order of `InstanceType`.
const TYPES: &[&str] = &["null", "boolean", "object", "array", "number", "string", "integer"];

impl Dialect<'_, '_> {
    /// Whether a field is part of its struct's schema. schemars 0.8 also keeps those that are only written
    /// (`expr_for_struct`).
    pub(super) fn is_property(&self, field: &Field) -> bool {
        let is_written = self.locked.is_schemars_0_8() && !field.serde.skip_serializing;
        !field.serde.skip_deserializing || is_written
    }

    /// The field with the default that serde gives one that is not read (`serde_derive`'s `internals/attr.rs`).
    pub(super) fn with_default<'f>(
        &self,
        field: &'f Field,
        container_default: Option<&DefaultExpr>,
    ) -> Cow<'f, Field> {
        let serde = &field.serde;
        if !serde.skip_deserializing || serde.default.is_some() || container_default.is_some() {
            return Cow::Borrowed(field);
        }
        let mut field = field.clone();
        field.serde.default = Some(DefaultExpr { function: None, loc: field.name.loc });
        Cow::Owned(field)
    }
}

/// The first field of a transparent struct (`ast/mod.rs`).
pub(super) fn transparent_field(derived: &Derived) -> Option<&Field> {
    let (Body::Named(fields) | Body::Tuple(fields)) = &derived.body else { return None };
    fields.first().filter(|_| derived.serde.transparent)
}

/// The type whose schema a type has as a whole: that of a transparent struct's field, whatever the attributes
/// (`lib.rs`).
pub(super) fn forwarded_type(derived: &Derived) -> Option<&TypeExpr> {
    let field = transparent_field(derived)?;
    match &field.with {
        Some(With::Type(ty)) => Some(ty),
        Some(With::Function(_)) => None,
        None => Some(&field.ty),
    }
}

/// Merges the schema of a flattened field, without its `Option`, into that of its struct
/// (`json_schema_for_flatten`).
pub(super) fn flatten_field(schema: &mut Value, mut other: Value, is_optional: bool) {
    if is_optional && let Value::Object(members) = &mut other {
        members.remove("required");
    }
    flatten(schema, other);
}

/// An internally tagged variant: the tag with the content flattened into it (`expr_for_internal_tagged_enum`).
pub(super) fn tagged(content: Value, tag: &str, name: &str, deny_unknown_fields: bool) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {tag: {"type": "string", "const": name}},
        "required": [tag],
    });
    if deny_unknown_fields {
        pieces::insert(&mut schema, "additionalProperties", false);
    }
    flatten(&mut schema, content);
    schema
}

/// `Schema::flatten`
fn flatten(schema: &mut Value, mut other: Value) {
    let is_null = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("null");
    if is_null(schema) {
        *schema = other;
    } else if !is_null(&other) {
        let theirs = std::mem::take(pieces::object(&mut other));
        merge(pieces::object(schema), theirs);
    }
}

/// `SchemaObject::merge`
fn merge(ours: &mut Map<String, Value>, mut theirs: Map<String, Value>) {
    if is_object(ours) && is_object(&theirs) {
        let both = permissive(ours.remove("additionalProperties"), theirs.remove("additionalProperties"));
        ours.extend(both.map(|both| ("additionalProperties".to_string(), both)));
    }
    for (key, value) in theirs {
        let Some(found) = ours.get_mut(&key) else {
            ours.insert(key, value);
            continue;
        };
        match (key.as_str(), found, value) {
            ("type", found, value) if *found != value => *found = types(found, &value),
            ("enum" | "examples" | "required", Value::Array(found), Value::Array(value)) => {
                found.extend(value);
            }
            ("properties" | "patternProperties", Value::Object(found), Value::Object(value)) => {
                found.extend(value);
            }
            _ => {}
        }
    }
}

/// Whether the schema has an `ObjectValidation`.
fn is_object(members: &Map<String, Value>) -> bool {
    let keys = ["properties", "required", "additionalProperties", "patternProperties"];
    members.get("type").and_then(Value::as_str) == Some("object")
        || keys.iter().any(|key| members.contains_key(*key))
}

/// The more permissive one of two values of `additionalProperties`.
fn permissive(ours: Option<Value>, theirs: Option<Value>) -> Option<Value> {
    match (ours, theirs) {
        (Some(Value::Bool(true)), _) | (_, Some(Value::Bool(true))) => Some(Value::Bool(true)),
        (None, _) | (_, None) => None,
        (Some(Value::Object(mut ours)), Some(Value::Object(theirs))) => {
            merge(&mut ours, theirs);
            Some(Value::Object(ours))
        }
        (Some(Value::Bool(false)), other) | (other, _) => other,
    }
}

/// The union of two types.
fn types(ours: &Value, theirs: &Value) -> Value {
    let names = |value: &Value| match value {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    };
    let all = [names(ours), names(theirs)].concat();
    TYPES.iter().copied().filter(|name| all.iter().any(|found| found == name)).map(Value::from).collect()
}
