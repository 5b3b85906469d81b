//! Decides the kinds of JSON values that a schema accepts, and expresses kinds in branches, which cannot have
//! a type.

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

/// Whether the schema accepts only null, ignoring its description.
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

/// The same restrictions, for values that may be null. An API server never finds null in an `enum`
/// (`basicCommonValidator` of kube-openapi), but does not validate it by branches.
pub(super) fn beside_null(mut schema: Schema) -> Schema {
    if let Some(values) = schema.enum_.take() {
        schema.all_of.push(Schema { enum_: Some(values), ..Schema::default() });
    }
    schema
}

/// The schema of the value with this name, if it is allowed.
pub(super) fn value_of<'a>(schema: &'a Schema, name: &str, free: &'a Schema) -> Option<&'a Schema> {
    schema.properties.get(name).map(Arc::as_ref).or_else(|| other_values(schema, free))
}

/// The schema of values without a property, if they are allowed.
pub(super) fn other_values<'a>(schema: &'a Schema, free: &'a Schema) -> Option<&'a Schema> {
    let branches = [&schema.one_of, &schema.any_of, &schema.all_of];
    match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        Some(Additional::Allowed(true)) => Some(free),
        // A schema without a type is a map unless its branches differ.
        _ if schema.preserve_unknown_fields
            && (schema.type_.is_some()
                || (schema.properties.is_empty() && branches.iter().all(|branches| branches.is_empty()))) =>
        {
            Some(free)
        }
        _ => None,
    }
}

/// Replaces the schema of other values by unknown fields if there are also properties: a schema cannot have
/// both.
pub(crate) fn close(schema: &mut Schema) {
    if schema.additional_properties.is_some()
        && (!schema.properties.is_empty() || schema.preserve_unknown_fields)
    {
        schema.additional_properties = None;
        schema.preserve_unknown_fields = true;
    }
}

/// A schema with only the common type of the schemas.
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

/// An integer or a string, in the only form that an API server accepts in branches.
pub(super) fn int_or_string() -> Schema {
    let any_of = vec![Schema::of_type("integer"), Schema::of_type("string")];
    Schema { int_or_string: true, any_of, ..Schema::default() }
}

/// A branch for values of a type. Restrictions on one kind of value do not apply to others, so an
/// unsatisfiable restriction accepts exactly all other kinds; its `not` is the kind.
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

/// Whether the branches only separate integers and strings.
pub(super) fn tells_apart_only(branches: &[Schema]) -> bool {
    let has = |type_: &str| branches.contains(&of_kind(type_));
    has("integer") && has("string")
}
