//! Reads Kubernetes' own types from k8s-openapi's definitions.

use serde_json::{Map, Value};

use super::fields::{Field, snake};
use super::{Form, Key, forms, modules};
use crate::known;

/// The path of k8s-openapi in generated code.
const K8S_OPENAPI: &str = "::kubesmith_runtime::k8s_openapi";

/// Group, version and name of a type: the last parts of its name.
pub(super) fn place(name: &str) -> (String, String, String) {
    let mut parts = name.rsplit('.');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let (name, version, group) = (part(), part(), part());
    let (group, version) = modules(&group, &version);
    (group, version, name)
}

/// The form of a field of the type.
pub(super) fn form(name: &str) -> Form {
    if is_struct(name) {
        return Form::Struct(Key::BuiltIn(name.to_owned()));
    }
    match known::openapi_path(name) {
        Some(path) => whole(&path["k8s_openapi".len()..]),
        None => forms::json(),
    }
}

/// A type that is set as a whole, by its path in k8s-openapi.
pub(super) fn whole(path: &str) -> Form {
    Form::Whole { path: format!("{K8S_OPENAPI}{path}"), converts: true }
}

/// Whether the type is a struct, whose fields an apply configuration sets one by one.
pub(super) fn is_struct(name: &str) -> bool {
    known::definition(name).and_then(properties).is_some()
}

/// The fields of a struct, and its documentation.
pub(super) fn fields(name: &str) -> (Vec<Field>, String) {
    let definition = known::definition(name).unwrap_or(&Value::Null);
    // A server refuses a patch with managed fields.
    let named = properties(definition).into_iter().flatten().filter(|(field, _)| *field != "managedFields");
    let fields =
        named.map(|(json, schema)| Field::new(json, &snake(json), form_of(schema), description(schema)));
    (fields.collect(), description(definition).to_owned())
}

fn properties(definition: &Value) -> Option<&Map<String, Value>> {
    definition.get("properties")?.as_object()
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn form_of(schema: &Value) -> Form {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let plain = |path: &str| Form::Whole { path: path.to_owned(), converts: false };
    if let Some(name) = text("$ref") {
        return form(name);
    }
    match (text("type"), text("format")) {
        (Some("string"), Some("byte")) => whole("::ByteString"),
        (Some("string"), _) => Form::Whole { path: "String".to_owned(), converts: true },
        (Some("integer"), Some("int32")) => plain("i32"),
        (Some("integer"), _) => plain("i64"),
        (Some("number"), _) => plain("f64"),
        (Some("boolean"), _) => plain("bool"),
        (Some("array"), _) => Form::List(Box::new(schema.get("items").map_or_else(forms::json, form_of))),
        (Some("object"), _) => {
            Form::Map(Box::new(schema.get("additionalProperties").map_or_else(forms::json, form_of)))
        }
        _ => forms::json(),
    }
}
