//! `/openapi/v2`: all served resources in one document, converted from the documents of version 3.

use serde_json::{Map, Value, json};

use super::document;
use crate::registry::Registry;

/// The keywords that version 2 lacks; apiextensions' `ToStructuralOpenAPIV2` drops them as well.
const DROPPED: [&str; 6] = ["default", "nullable", "oneOf", "anyOf", "allOf", "not"];

const KEEPS_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";

/// Builds the document of all served resources.
pub(super) fn everything(registry: &Registry) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    for (group, versions) in registry.groups() {
        for version in versions {
            let document = document(registry, group, version);
            for (path, item) in document["paths"].as_object().into_iter().flatten() {
                paths.insert(path.clone(), path_item(item));
            }
            for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
                definitions.insert(name.clone(), definition(schema));
            }
        }
    }
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.0"}, "paths": paths,
        "definitions": definitions, "security": [{"BearerToken": []}],
        "securityDefinitions": {"BearerToken": {
            "description": "Bearer Token authentication", "type": "apiKey", "name": "authorization", "in": "header",
        }},
    })
}

/// Converts a definition. One that keeps unknown fields loses its known ones, since kubectl would refuse all others
/// (`buildKubeNative` of apiextensions' pkg/controller/openapi/builder).
fn definition(value: &Value) -> Value {
    if value[KEEPS_UNKNOWN] != true {
        return schema(value);
    }
    let mut out = json!({"type": "object"});
    if let Some(kinds) = value.get(super::GROUP_VERSION_KIND) {
        out[super::GROUP_VERSION_KIND] = kinds.clone();
    }
    out
}

fn path_item(item: &Value) -> Value {
    let convert = |(key, value): (&String, &Value)| {
        let value = if key == "parameters" { parameters(value) } else { operation(value) };
        (key.clone(), value)
    };
    Value::Object(item.as_object().into_iter().flatten().map(convert).collect())
}

fn parameters(list: &Value) -> Value {
    let parameter = |parameter: &Value| {
        let mut out = parameter.clone();
        if let Some(members) = out.as_object_mut()
            && let Some(Value::Object(schema)) = members.remove("schema")
        {
            members.extend(schema);
        }
        out
    };
    list.as_array().into_iter().flatten().map(parameter).collect()
}

fn operation(operation: &Value) -> Value {
    let mut out = operation.clone();
    let mut all = parameters(&operation["parameters"]);
    let body = &operation["requestBody"];
    if let (Some(list), Some(content)) = (all.as_array_mut(), body["content"].as_object()) {
        let mut parameter = json!({"name": "body", "in": "body", "schema": first_schema(&body["content"])});
        if body["required"] == true {
            parameter["required"] = true.into();
        }
        list.insert(0, parameter);
        out["consumes"] = content.keys().cloned().collect();
    }
    out["parameters"] = all;
    let mut produces = Vec::new();
    let mut responses = Map::new();
    for (code, response) in operation["responses"].as_object().into_iter().flatten() {
        let mut short = json!({"description": response["description"]});
        if let Some(content) = response["content"].as_object() {
            short["schema"] = first_schema(&response["content"]);
            produces = content.keys().cloned().collect();
        }
        responses.insert(code.clone(), short);
    }
    out["responses"] = Value::Object(responses);
    out["produces"] = json!(produces);
    out["schemes"] = json!(["https"]);
    if let Some(members) = out.as_object_mut() {
        members.remove("requestBody");
    }
    out
}

/// Returns the schema of a content, which is the same in every media type.
fn first_schema(content: &Value) -> Value {
    let first = content.as_object().into_iter().flatten().next();
    first.map_or(Value::Null, |(_, of)| schema(&of["schema"]))
}

/// Converts a schema to version 2: references leave their `allOf`, and point to the place of definitions.
fn schema(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let mut out = Map::new();
    for (key, value) in members.iter().filter(|(key, _)| !DROPPED.contains(&key.as_str())) {
        let value = match key.as_str() {
            "$ref" => {
                value.as_str().unwrap_or_default().replace("#/components/schemas/", "#/definitions/").into()
            }
            "items" | "additionalProperties" => schema(value),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                Value::Object(properties.map(|(name, property)| (name.clone(), schema(property))).collect())
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    if let Some([one]) = members.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
        && let Value::Object(referred) = schema(one)
        && referred.contains_key("$ref")
    {
        out.extend(referred);
    }
    let has = |key: &str| members.get(key).is_some_and(|value| *value == true);
    // kubectl cannot handle objects with unknown fields, or lists of unknown items.
    if has("nullable") || has(KEEPS_UNKNOWN) {
        for key in ["type", "items", "properties"] {
            if key != "type"
                || has("nullable")
                || members.get(key).is_some_and(|of| of == "object" || of == "array")
            {
                out.remove(key);
            }
        }
    }
    // Quantities, and numbers that may be names, are strings here.
    if members.contains_key("oneOf") && !out.contains_key("type") && !out.contains_key("$ref") {
        out.insert("type".to_owned(), "string".into());
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_has_every_definition_that_it_refers_to() {
        fn references<'a>(value: &'a Value, out: &mut Vec<&'a str>) {
            match value {
                Value::Object(members) => members.iter().for_each(|(key, value)| match value.as_str() {
                    Some(text) if key == "$ref" => out.push(text),
                    _ => references(value, out),
                }),
                Value::Array(list) => list.iter().for_each(|value| references(value, out)),
                _ => {}
            }
        }
        let document = everything(&Registry::new([]));
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 1000);
        for reference in found {
            let name = reference.strip_prefix("#/definitions/").unwrap();
            assert!(document["definitions"].get(name).is_some(), "{name}");
        }
        let patch = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}/status"]["patch"];
        assert_eq!(patch["operationId"], "patchCoreV1NamespacedPodStatus");
        let role = &document["paths"]["/apis/rbac.authorization.k8s.io/v1/clusterroles"];
        assert_eq!(role["delete"]["operationId"], "deleteRbacAuthorizationV1CollectionClusterRole");
    }
}
