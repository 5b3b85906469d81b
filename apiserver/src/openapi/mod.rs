//! `/openapi/v3`: the schemas of what is served.

mod builtin;

use std::collections::BTreeMap;

use kubesmith_apiextensions::openapi::{self, CustomKind, GROUP_VERSION_KIND};
use serde_json::{Value, json};

use crate::http::negotiate;
use crate::http::reply::Reply;
use crate::registry::{Behaviour, Registry, ResourceDef};
use crate::status::{ApiError, ApiResult};

/// The definition of every patch.
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

fn patch_definition() -> Value {
    let text = "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.";
    json!({"description": text, "type": "object"})
}

/// Answers a path below `/openapi`.
pub(crate) fn answer(registry: &Registry, path: &str) -> ApiResult<Reply> {
    if path == "/openapi/v3" {
        let mut paths = serde_json::Map::new();
        for (group, versions) in registry.groups() {
            for version in versions {
                let name = document_name(group, version);
                let url = format!("/openapi/v3/{name}");
                paths.insert(name, json!({"serverRelativeURL": url}));
            }
        }
        return Ok(Reply::json(200, &json!({"paths": paths})));
    }
    let name = path.strip_prefix("/openapi/v3/").ok_or(ApiError::NoSuchPath)?;
    let (group, version) = match name.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] => (String::new(), (*version).to_owned()),
        ["apis", group, version] => ((*group).to_owned(), (*version).to_owned()),
        _ => return Err(ApiError::NoSuchPath),
    };
    let defs = registry.of_version(&group, &version);
    if defs.is_empty() {
        return Err(ApiError::NoSuchPath);
    }
    let mut schemas = openapi::metadata_definitions();
    schemas.insert(PATCH.to_owned(), patch_definition());
    let mut paths = serde_json::Map::new();
    for def in &defs {
        schemas.extend(definitions(def));
        for (path, item) in path_items(def) {
            paths.insert(path, item);
        }
    }
    let document = json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.0"},
        "paths": paths, "components": {"schemas": schemas},
    });
    Ok(Reply::json(200, &document))
}

fn document_name(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// The definitions of a resource, by name.
fn definitions(def: &ResourceDef) -> BTreeMap<String, Value> {
    match &def.behaviour {
        Behaviour::Custom(custom) => {
            let kind = CustomKind {
                group: &def.group,
                version: &def.version,
                kind: &def.kind,
                list_kind: &def.list_kind,
                plural: &def.plural,
                selectable_fields: &def.selectable,
            };
            openapi::definitions(&kind, custom.schema.clone())
        }
        Behaviour::BuiltIn(_) => builtin::definitions(def),
    }
}

fn gvk(def: &ResourceDef) -> Value {
    json!({"group": def.group, "version": def.version, "kind": def.kind})
}

/// The paths whose parameters clients look up before they use them.
fn path_items(def: &ResourceDef) -> Vec<(String, Value)> {
    let root = if def.group.is_empty() {
        format!("/api/{}", def.version)
    } else {
        format!("/apis/{}/{}", def.group, def.version)
    };
    let place = if def.namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{root}{place}/{}", def.plural);
    let operation = |action: &str, parameters: &[&str]| {
        let parameters: Vec<Value> = parameters
            .iter()
            .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}))
            .collect();
        json!({
            "x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk(def),
            "parameters": parameters, "responses": {"200": {"description": "OK"}},
        })
    };
    let write = ["dryRun", "fieldManager", "fieldValidation"];
    let all =
        json!({"post": operation("post", &write), "get": operation("list", &["labelSelector", "watch"])});
    let mut one = json!({
        "get": operation("get", &[]), "put": operation("put", &write),
        "delete": operation("delete", &["dryRun", "propagationPolicy"]),
    });
    one["patch"] = operation("patch", &["dryRun", "fieldManager", "fieldValidation", "force"]);
    one["patch"]["requestBody"] = json!({"content": patches(def)});
    vec![(collection.clone(), all), (format!("{collection}/{{name}}"), one)]
}

/// The media types of patches: clients choose by them how they apply.
fn patches(def: &ResourceDef) -> Value {
    let content = json!({"schema": {"$ref": format!("#/components/schemas/{PATCH}")}});
    let types = negotiate::patch_types(def.is_custom());
    Value::Object(types.iter().map(|media_type| ((*media_type).to_owned(), content.clone())).collect())
}
