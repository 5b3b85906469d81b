//! `/openapi/v2`: all served resources in one document.

use serde_json::{Map, Value, json};

use super::routes::{self, Route};
use super::{Form, builtin, custom_definitions, discovery_paths, openapi, paths};
use crate::registry::Registry;

/// Builds the document of all served resources.
pub(super) fn everything(registry: &Registry) -> Value {
    let mut routes: Vec<Route> =
        discovery_paths(registry).iter().filter_map(|(_, path)| routes::discovery(path)).collect();
    let mut definitions = std::collections::BTreeMap::new();
    for (group, versions) in registry.groups() {
        for version in versions {
            let defs = registry.of_version(group, version);
            routes.extend(routes::of_version(group, version, &defs));
            definitions.extend(custom_definitions(&defs, openapi::definitions_v2));
        }
    }
    let roots = routes.iter().flat_map(Route::definitions).filter(|name| !definitions.contains_key(*name));
    let built_in = builtin::closure(roots.cloned(), &builtin::versions(false));
    definitions.extend(built_in);
    let definitions: Map<String, Value> =
        definitions.iter().map(|(name, of)| (name.clone(), schema(of))).collect();
    let mut paths = paths::items(&routes, Form::V2);
    let parameters = paths::share_parameters(&mut paths);
    json!({
        "swagger": "2.0", "info": super::info(), "paths": paths, "definitions": definitions,
        "parameters": parameters, "security": [{"BearerToken": []}], "securityDefinitions": super::security(),
    })
}

/// Converts a schema of version 3: defaults are pruned, references leave their `allOf`, and quantities and numbers that may
/// be names are strings.
fn schema(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let mut out = Map::new();
    for (key, value) in members.iter().filter(|(key, _)| *key != "default") {
        let value = match key.as_str() {
            "$ref" => {
                let name =
                    value.as_str().and_then(|text| text.strip_prefix(super::PREFIX)).unwrap_or_default();
                out.extend(Form::V2.reference(name).as_object().cloned().unwrap_or_default());
                continue;
            }
            "items" | "additionalProperties" => schema(value),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                Value::Object(properties.map(|(name, property)| (name.clone(), schema(property))).collect())
            }
            "oneOf" if !members.contains_key("type") => {
                out.insert("type".to_owned(), "string".into());
                continue;
            }
            "allOf" => {
                let all = value.as_array().into_iter().flatten();
                out.extend(all.filter_map(|one| schema(one).as_object().cloned()).flatten());
                continue;
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_has_everything_that_it_refers_to() {
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
            assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
        }
        let patch = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}/status"]["patch"];
        assert_eq!(patch["operationId"], "patchCoreV1NamespacedPodStatus");
        let role = &document["paths"]["/apis/rbac.authorization.k8s.io/v1/clusterroles"];
        assert_eq!(role["delete"]["operationId"], "deleteRbacAuthorizationV1CollectionClusterRole");
    }
}
