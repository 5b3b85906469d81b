//! Schemas in version 2 of OpenAPI, which lacks some keywords (`ToStructuralOpenAPIV2` of apiextensions'
//! `pkg/controller/openapi/v2`).

use serde_json::{Map, Value};

use super::KEEPS_UNKNOWN;

/// The keywords that version 2 lacks, and the defaults, which kube-openapi's handler prunes from it.
const DROPPED: [&str; 6] = ["default", "nullable", "oneOf", "anyOf", "allOf", "not"];

/// Converts a schema and those in it. kubectl cannot handle null, objects with unknown fields or lists of unknown items,
/// so such schemas lose what describes them.
pub(super) fn convert(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    let is = |members: &Map<String, Value>, key: &str| members.get(key).is_some_and(|value| *value == true);
    let (nullable, keeps) = (is(members, "nullable"), is(members, KEEPS_UNKNOWN));
    members.retain(|key, _| !DROPPED.contains(&key.as_str()));
    if nullable || keeps {
        members.remove("items");
        members.remove("properties");
    }
    let of_type = |members: &Map<String, Value>, name: &str| members.get("type").is_some_and(|of| of == name);
    let list_of_anything = of_type(members, "array") && !members.contains_key("items");
    if nullable || list_of_anything || (keeps && of_type(members, "object")) {
        members.remove("type");
    }
    drop_required(members, |property| property["nullable"] == true);
    for key in ["items", "additionalProperties"] {
        members.get_mut(key).into_iter().for_each(convert);
    }
    let properties = members.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, property)| convert(property));
}

/// Removes the names of nullable properties from `required`; all names if the values of a map are nullable.
fn drop_required(members: &mut Map<String, Value>, is_nullable: impl Fn(&Value) -> bool) {
    let Some(Value::Array(mut required)) = members.remove("required") else { return };
    if members.get("additionalProperties").is_some_and(&is_nullable) {
        return;
    }
    let property = |name: &str| members.get("properties").and_then(|properties| properties.get(name));
    required.retain(|name| name.as_str().and_then(property).is_none_or(|property| !is_nullable(property)));
    if !required.is_empty() {
        members.insert("required".to_owned(), Value::Array(required));
    }
}
