//! Kinds of JSON values in schemas: which a schema admits, and how a branch, which may not name a type,
//! says it all the same.

use std::sync::Arc;

use serde_json::Value;

use kubesmith_apiextensions::schema::{Additional, Number, Schema};

/// Any value.
pub(super) fn free() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::default() }
}

/// Null alone. An API server checks null against type, `nullable` and `enum` only (`data == nil` in
/// `pkg/validation/validate/schema.go` of kube-openapi), so that `not` refuses everything else.
pub(crate) fn unit() -> Schema {
    Schema { nullable: true, not: Some(Box::default()), ..free() }
}

/// Whether the schema is that of null alone, whatever it is called.
pub(super) fn is_unit(schema: &Schema) -> bool {
    let unit = unit();
    schema.not == unit.not
        && schema.nullable
        && Schema { description: None, title: None, ..schema.clone() } == unit
}

/// The values of the schema, or null.
pub(crate) fn nullable(schema: Schema) -> Schema {
    Schema { nullable: true, ..beside_null(schema) }
}

/// The same restrictions, for values that may be null. Null is never among the values of an `enum` for an
/// API server (`basicCommonValidator` of kube-openapi), but it is not held against branches.
pub(super) fn beside_null(mut schema: Schema) -> Schema {
    if let Some(values) = schema.enum_.take() {
        schema.all_of.push(Schema { enum_: Some(values), ..Schema::default() });
    }
    schema
}

/// The schema of the value under a name, if there may be one.
pub(super) fn value_of<'a>(schema: &'a Schema, name: &str, free: &'a Schema) -> Option<&'a Schema> {
    schema.properties.get(name).map(Arc::as_ref).or_else(|| other_values(schema, free))
}

/// The schema of values under names that have no property, if there may be any.
pub(super) fn other_values<'a>(schema: &'a Schema, free: &'a Schema) -> Option<&'a Schema> {
    let branches = [&schema.one_of, &schema.any_of, &schema.all_of];
    match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        Some(Additional::Allowed(true)) => Some(free),
        // What has no type is a map if nothing tells that it is something else.
        _ if schema.preserve_unknown_fields
            && (schema.type_.is_some()
                || (schema.properties.is_empty() && branches.iter().all(|branches| branches.is_empty()))) =>
        {
            Some(free)
        }
        _ => None,
    }
}

/// A schema may have properties or describe all other values, not both: then anything may stand beside
/// the properties.
pub(crate) fn close(schema: &mut Schema) {
    if schema.additional_properties.is_some()
        && (!schema.properties.is_empty() || schema.preserve_unknown_fields)
    {
        schema.additional_properties = None;
        schema.preserve_unknown_fields = true;
    }
}

/// A schema of nothing but the type that holds for all of the schemas.
pub(super) fn joined_type(schemas: &[&Schema]) -> Schema {
    let is = |names: &[&str]| {
        schemas.iter().all(|schema| match schema.type_.as_deref() {
            Some(type_) => names.contains(&type_),
            None => false,
        })
    };
    if let Some(type_) = schemas[0].type_.as_deref().filter(|type_| is(&[type_])) {
        return Schema::of_type(type_);
    }
    if is(&["integer", "number"]) {
        return Schema::of_type("number");
    }
    let scalar = |schema: &&Schema| {
        schema.int_or_string || matches!(schema.type_.as_deref(), Some("integer" | "string"))
    };
    if schemas.iter().all(scalar) {
        return int_or_string();
    }
    free()
}

/// An integer or a string, in the only way in which the API server admits types in branches.
pub(super) fn int_or_string() -> Schema {
    let any_of = vec![Schema::of_type("integer"), Schema::of_type("string")];
    Schema { int_or_string: true, any_of, ..Schema::default() }
}

/// A branch for values of a type. Restrictions of one kind of value do not concern the others, so what
/// no value of a kind satisfies is satisfied by all others; its `not` is the kind.
pub(super) fn of_kind(type_: &str) -> Schema {
    let (zero, one) = (Some(0), Some(1));
    let bounds = (Some(Number::from(0)), Some(Number::from(1)));
    let impossible = match type_ {
        "object" => Schema { min_properties: one, max_properties: zero, ..Schema::default() },
        "array" => Schema { min_items: one, max_items: zero, ..Schema::default() },
        "string" => Schema { min_length: one, max_length: zero, ..Schema::default() },
        "boolean" => {
            let values = vec![Value::Bool(false), Value::Bool(true)];
            return Schema { enum_: Some(values), ..Schema::default() };
        }
        _ => Schema { minimum: bounds.1, maximum: bounds.0, ..Schema::default() },
    };
    let multiple_of = (type_ == "integer").then(|| Number::from(1));
    Schema { multiple_of, not: Some(Box::new(impossible)), ..Schema::default() }
}

/// Whether the branches say no more than that there are integers and strings.
pub(super) fn tells_apart_only(branches: &[Schema]) -> bool {
    let has = |type_: &str| branches.contains(&of_kind(type_));
    has("integer") && has("string")
}
