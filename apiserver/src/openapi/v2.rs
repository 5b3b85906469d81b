//! `/openapi/v2`: all served resources in one document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::route::Route;
use super::routes;
use super::{Form, builtin, custom_definitions, discovery_paths, openapi, paths};
use crate::registry::Registry;

/// Builds the document of all served resources.
pub(super) fn everything(registry: &Registry) -> Value {
    let mut routes: Vec<Route> =
        discovery_paths(registry).iter().filter_map(|(_, path)| routes::discovery(path)).collect();
    let (mut custom_routes, mut custom) = (Vec::new(), BTreeMap::new());
    for (group, versions) in registry.groups() {
        for version in versions {
            let defs = registry.of_version(group, version);
            let (own, built_in): (Vec<_>, Vec<_>) = defs.into_iter().partition(|def| def.is_custom());
            routes.extend(routes::of_version(group, version, &built_in));
            custom_routes.extend(routes::of_version(group, version, &own));
            custom.extend(custom_definitions(&own, openapi::definitions_v2));
        }
    }
    let shared = custom_routes.iter().flat_map(Route::definitions).filter(|name| !custom.contains_key(*name));
    let roots = routes.iter().flat_map(Route::definitions).chain(shared);
    let mut definitions = builtin::closure(roots.cloned(), &builtin::versions(false));
    rename(&mut custom, &mut custom_routes, &definitions);
    definitions.extend(custom);
    routes.extend(custom_routes);
    let definitions: Map<String, Value> =
        definitions.iter().map(|(name, of)| (name.clone(), schema(of))).collect();
    let mut paths = paths::items(&routes, Form::V2);
    let parameters = paths::share_parameters(&mut paths);
    json!({
        "swagger": "2.0", "info": super::info(), "paths": paths, "definitions": definitions,
        "parameters": parameters, "security": [{"BearerToken": []}], "securityDefinitions": super::security(),
    })
}

/// Renames definitions of custom resources that have the name of a built-in one (`mergeSpecs` of kube-openapi's
/// `pkg/aggregator`). Only the definitions of lists and the operations refer to them.
fn rename(custom: &mut BTreeMap<String, Value>, routes: &mut [Route], built_in: &BTreeMap<String, Value>) {
    let taken: Vec<String> = custom.keys().filter(|name| built_in.contains_key(*name)).cloned().collect();
    for old in taken {
        let is_free = |name: &String| !built_in.contains_key(name) && !custom.contains_key(name);
        let new = (2..).map(|i| format!("{old}_v{i}")).find(is_free).unwrap_or_default();
        let definition = custom.remove(&old).unwrap_or_default();
        custom.insert(new.clone(), definition);
        let reference = format!("{}{old}", super::PREFIX);
        for schema in custom.values_mut() {
            if let Some(found) = schema.pointer_mut("/properties/items/items/$ref")
                && *found == reference
            {
                *found = format!("{}{new}", super::PREFIX).into();
            }
        }
        routes
            .iter_mut()
            .flat_map(Route::definitions_mut)
            .filter(|name| **name == old)
            .for_each(|name| name.clone_from(&new));
    }
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
