//! `/openapi/v3` and `/openapi/v2`: the schemas and paths of what is served.

mod builtin;
mod paths;
mod v2;

use std::collections::BTreeMap;

use kubesmith_apiextensions::openapi::{self, CustomKind, GROUP_VERSION_KIND};
use serde_json::{Value, json};

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
    match path {
        "/openapi/v2" => return Ok(Reply::json(200, &v2::everything(registry))),
        "/openapi/v3" => return Ok(Reply::json(200, &json!({"paths": documents(registry)}))),
        _ => {}
    }
    let name = path.strip_prefix("/openapi/v3/").ok_or(ApiError::NoSuchPath)?;
    let document = match name.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] if registry.has_version("", version) => document(registry, "", version),
        ["apis", group, version] if registry.has_version(group, version) => {
            document(registry, group, version)
        }
        _ => match discovery_paths(registry).into_iter().find(|(known, _)| known == name) {
            Some((_, path)) => discovery_document(&path),
            // kube-aggregator's own handler answers without a body.
            None => return Ok(Reply::text(404, "")),
        },
    };
    Ok(Reply::json(200, &document))
}

/// The names of all documents with their addresses.
fn documents(registry: &Registry) -> serde_json::Map<String, Value> {
    let versions = registry
        .groups()
        .iter()
        .flat_map(|(group, versions)| versions.iter().map(move |version| document_name(group, version)));
    let names = versions.chain(discovery_paths(registry).into_iter().map(|(name, _)| name));
    names.map(|name| (name.clone(), json!({"serverRelativeURL": format!("/openapi/v3/{name}")}))).collect()
}

/// The documents of what is no resource, each with the path it describes. Groups of custom resources have none.
fn discovery_paths(registry: &Registry) -> Vec<(String, String)> {
    let groups =
        registry.groups().keys().filter(|group| !group.is_empty() && crate::builtin::has_group(group));
    let fixed = [
        (".well-known/openid-configuration", "/.well-known/openid-configuration/"),
        ("api", "/api/"),
        ("apis", "/apis/"),
        ("openid/v1/jwks", "/openid/v1/jwks/"),
        ("version", "/version/"),
    ];
    let fixed = fixed.map(|(name, path)| (name.to_owned(), path.to_owned()));
    groups.map(|group| (format!("apis/{group}"), format!("/apis/{group}/"))).chain(fixed).collect()
}

fn discovery_document(path: &str) -> Value {
    let get = json!({"responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}}});
    let mut paths = serde_json::Map::new();
    paths.insert(path.to_owned(), json!({"get": get}));
    json!({"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.0"}, "paths": paths,
           "components": {}})
}

/// The document of a group and version.
fn document(registry: &Registry, group: &str, version: &str) -> Value {
    let defs = registry.of_version(group, version);
    let mut schemas = builtin::shared(defs.iter().any(|def| def.scale.is_some()));
    schemas.insert(PATCH.to_owned(), patch_definition());
    // `generate` writes the same definitions, so that clients made of either agree.
    schemas.extend(openapi::metadata_definitions());
    let mut paths = serde_json::Map::new();
    for def in &defs {
        schemas.extend(definitions(def));
        paths.extend(paths::of(def));
    }
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.0"},
        "paths": paths, "components": {"schemas": schemas},
    })
}

fn reference(definition: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{definition}")})
}

/// The definition of a custom resource's kind.
fn custom_name(def: &ResourceDef, kind: &str) -> String {
    openapi::definition_name(&def.group, &def.version, kind)
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
