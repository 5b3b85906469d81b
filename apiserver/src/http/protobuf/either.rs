//! Types of CustomResourceDefinitions that are one of two values in JSON and a message with both in protobuf (the
//! marshallers in apiextensions/v1/marshal.go).

use serde_json::{Map, Value, json};

const OR_ARRAY: &str = "apiextensions.JSONSchemaPropsOrArray";
const OR_BOOL: &str = "apiextensions.JSONSchemaPropsOrBool";
const OR_STRINGS: &str = "apiextensions.JSONSchemaPropsOrStringArray";

/// Returns the message's members for a value; `None` if the type has the same members in JSON.
pub(super) fn to_message(of: &str, value: &Value) -> Option<Value> {
    Some(match (of, value) {
        (OR_ARRAY, Value::Array(schemas)) => json!({"jSONSchemas": schemas}),
        (OR_STRINGS, Value::Array(names)) => json!({"property": names}),
        (OR_BOOL, Value::Bool(allows)) => json!({"allows": allows}),
        (OR_BOOL, schema) => json!({"allows": true, "schema": schema}),
        (OR_ARRAY | OR_STRINGS, schema) => json!({"schema": schema}),
        _ => return None,
    })
}

/// Returns the value for a message's members; `None` if the type has the same members in JSON.
pub(super) fn from_message(of: &str, members: &Map<String, Value>) -> Option<Value> {
    let member = |name: &str| members.get(name).cloned();
    match of {
        OR_ARRAY => member("schema").or_else(|| member("jSONSchemas")).or(Some(Value::Null)),
        OR_STRINGS => member("schema").or_else(|| member("property")).or(Some(Value::Null)),
        OR_BOOL => member("schema").or_else(|| member("allows")).or(Some(Value::Bool(false))),
        _ => None,
    }
}
