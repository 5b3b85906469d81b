//! `/openapi/v3` and `/openapi/v2`: the schemas and paths of all served resources.

mod builtin;
mod paths;
mod route;
mod routes;
mod schemas;
mod v2;

use std::collections::BTreeMap;
use std::sync::Arc;

use ::http::header::{CACHE_CONTROL, EXPIRES, LOCATION, VARY};
use ::http::request::Parts;
use jiff::{SignedDuration, Timestamp};
use kubesmith_apiextensions::openapi::{self, CustomKind, GROUP_VERSION_KIND, META};
use serde_json::{Value, json};

use self::route::Route;
use crate::documents::{Documents, Rendered};
use crate::features::MINOR;
use crate::http::etag;
use crate::http::negotiate;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::registry::{Behaviour, Registry, ResourceDef};
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// A version of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    V2,
    V3,
}

impl Form {
    fn reference(self, definition: &str) -> Value {
        match self {
            Self::V2 => json!({"$ref": format!("#/definitions/{definition}")}),
            Self::V3 => json!({"$ref": format!("{PREFIX}{definition}")}),
        }
    }
}

/// The place of definitions in documents of version 3.
const PREFIX: &str = "#/components/schemas/";

/// The documents of version 3 of built-in groups, which are the same in every server.
static BUILT_IN: Documents = Documents::new();

/// The name of the document of version 2.
const ALL: &str = "v2";

/// The name of the list of documents of version 3.
const INDEX: &str = "v3";

/// Handles a path below `/openapi` as kube-openapi's `handler` and `handler3` do.
pub(crate) fn answer(server: &Server, path: &str, parts: &Parts) -> ApiResult<Reply> {
    let registry = server.registry();
    let name = path.strip_prefix("/openapi/").ok_or(ApiError::NoSuchPath)?;
    if name == ALL {
        return Ok(serve(parts, &V2, &all(&registry)));
    }
    if name == INDEX {
        let index = index(&registry);
        // kube-aggregator leaves the content type to Go's `http.ServeContent`, which takes JSON for text.
        let reply = || Reply::text(200, index.json.clone());
        return Ok(etag::tagged(&parts.headers, &index.tag, reply));
    }
    let name = name.strip_prefix("v3/").ok_or(ApiError::NoSuchPath)?;
    // kube-aggregator's own handler returns no body.
    let Some(document) = rendered(&registry, name) else { return Ok(Reply::empty(404)) };
    let reply = serve(parts, &V3, &document);
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    Ok(match query.get("hash") {
        "" => reply,
        hash if hash == document.tag => {
            // A year from now: the document with this hash never changes.
            let expires = server.timestamp().saturating_add(SignedDuration::from_hours(365 * 24));
            let expires = expires.unwrap_or(Timestamp::MAX).strftime("%a, %d %b %Y %H:%M:%S UTC");
            reply.with_header(CACHE_CONTROL, "public, immutable").with_header(EXPIRES, &expires.to_string())
        }
        _ => Reply::empty(301).with_header(LOCATION, &address(name, &document.tag)),
    })
}

/// Returns the document of version 2.
fn all(registry: &Registry) -> Arc<Rendered> {
    registry.documents.get(ALL, || v2::everything(registry))
}

/// Returns the list of documents of version 3.
fn index(registry: &Registry) -> Arc<Rendered> {
    registry.documents.get(INDEX, || json!({"paths": documents(registry)}))
}

/// The forms of a version's documents.
struct Forms {
    /// The media types of the messages, of which the first one is sent.
    protobuf: [&'static str; 2],
    /// gnostic's message.
    message: &'static str,
}

const V2: Forms = Forms {
    protobuf: [
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    ],
    message: "v2.Document",
};
const V3: Forms = Forms {
    protobuf: [
        "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
    ],
    message: "v3.Document",
};

/// Serves the document in the first form that the client accepts. All forms have the tag of the JSON.
fn serve(parts: &Parts, forms: &Forms, document: &Rendered) -> Reply {
    let accepted = negotiate::media_types(&parts.headers).into_iter().find_map(|media_type| {
        let json = matches!(media_type, "application/json" | "application/*" | "*/*");
        (json || forms.protobuf.contains(&media_type)).then_some(json)
    });
    let reply = match accepted {
        None => Reply::empty(406),
        Some(true) => {
            etag::tagged(&parts.headers, &document.tag, || Reply::json_bytes(200, document.json.clone()))
        }
        Some(false) => {
            etag::tagged(&parts.headers, &document.tag, || match document.protobuf(forms.message) {
                Some(bytes) => Reply::rendered(forms.protobuf[0], bytes),
                None => Reply::empty(503),
            })
        }
    };
    reply.with_header(VARY, "Accept")
}

/// Returns the document of version 3 with this name.
fn rendered(registry: &Registry, name: &str) -> Option<Arc<Rendered>> {
    let (group, version) = match name.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] if registry.has_version("", version) => ("", *version),
        ["apis", group, version] if registry.has_version(group, version) => (*group, *version),
        _ => {
            let (_, path) = discovery_paths(registry).into_iter().find(|(known, _)| known == name)?;
            let route = routes::discovery(&path)?;
            return Some(BUILT_IN.get(name, || built_in_document(&[route], &[])));
        }
    };
    let has_custom = registry.of_version(group, version).iter().any(|def| def.is_custom());
    let documents = if has_custom { &registry.documents } else { &BUILT_IN };
    Some(documents.get(name, || document(registry, group, version)))
}

/// Returns the names of all documents with their addresses.
fn documents(registry: &Registry) -> serde_json::Map<String, Value> {
    let versions = registry
        .groups()
        .iter()
        .flat_map(|(group, versions)| versions.iter().map(move |version| document_name(group, version)));
    let names = versions.chain(discovery_paths(registry).into_iter().map(|(name, _)| name));
    let entry = |name: String| {
        let document = rendered(registry, &name)?;
        let entry = json!({"serverRelativeURL": address(&name, &document.tag)});
        Some((name, entry))
    };
    names.filter_map(entry).collect()
}

/// Returns the address of a document, with its tag, so that caches need not revalidate it.
fn address(name: &str, tag: &str) -> String {
    format!("/openapi/v3/{name}?hash={tag}")
}

/// Returns the documents of discovery paths, each with its path. Groups of custom resources have none.
fn discovery_paths(registry: &Registry) -> Vec<(String, String)> {
    let groups =
        registry.groups().keys().filter(|group| !group.is_empty() && crate::groups::is_built_in(group));
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

/// Builds the document of a group and version.
fn document(registry: &Registry, group: &str, version: &str) -> Value {
    let defs = registry.of_version(group, version);
    let routes = routes::of_version(group, version, &defs);
    if !defs.iter().any(|def| def.is_custom()) {
        let versions = [("", "v1"), (group, version)];
        return built_in_document(&routes, versions.get(usize::from(group.is_empty())..).unwrap_or_default());
    }
    let mut schemas = custom_definitions(&defs, openapi::definitions);
    let roots = routes.iter().flat_map(Route::definitions).filter(|name| !schemas.contains_key(*name));
    let meta = ["ObjectMeta", "ListMeta"].map(|kind| format!("{META}.{kind}"));
    schemas.extend(builtin::closure(roots.cloned().chain(meta), &builtin::versions(true)));
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": paths::items(&routes, Form::V3), "components": {"schemas": schemas},
    })
}

/// Builds a document of operations on built-in kinds. Options and events of watches have kinds in these versions.
fn built_in_document(routes: &[Route], versions: &[(&str, &str)]) -> Value {
    let mut components = json!({"securitySchemes": security()});
    let schemas = builtin::closure(routes.iter().flat_map(Route::definitions).cloned(), versions);
    if !schemas.is_empty() {
        components["schemas"] = json!(schemas);
    }
    json!({"openapi": "3.0.0", "info": info(), "paths": paths::items(routes, Form::V3), "components": components})
}

fn info() -> Value {
    json!({"title": "Kubernetes", "version": format!("1.{MINOR}")})
}

fn security() -> Value {
    json!({"BearerToken": {
        "description": "Bearer Token authentication", "type": "apiKey", "name": "authorization", "in": "header",
    }})
}

/// Returns the name of a custom resource's definition.
fn custom_name(def: &ResourceDef, kind: &str) -> String {
    openapi::definition_name(&def.group, &def.version, kind)
}

fn document_name(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// Returns the definitions of custom resources, by name.
fn custom_definitions(
    defs: &[Arc<ResourceDef>],
    definitions: fn(&CustomKind<'_>, Value) -> BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let of = |def: &Arc<ResourceDef>| {
        let Behaviour::Custom(custom) = &def.behaviour else { return BTreeMap::new() };
        let kind = CustomKind {
            group: &def.group,
            version: &def.version,
            kind: &def.kind,
            list_kind: &def.list_kind,
            plural: &def.plural,
            selectable_fields: &def.selectable,
        };
        definitions(&kind, custom.schema.clone())
    };
    defs.iter().flat_map(of).collect()
}

fn gvk(def: &ResourceDef) -> Value {
    gvk_of(&def.group, &def.version, &def.kind)
}

fn gvk_of(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::of_definition;

    #[test]
    fn documents_are_rendered_once_until_definitions_change() {
        let registry = || {
            let definition = json!({
                "metadata": {"name": "foos.example.com"},
                "spec": {
                    "group": "example.com", "scope": "Namespaced",
                    "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
                    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
                },
            });
            Registry::new(of_definition(&definition))
        };
        let (first, second) = (registry(), registry());
        let document = |of: &Registry, name: &str| rendered(of, name).unwrap();
        let own = "apis/example.com/v1";
        assert!(Arc::ptr_eq(&all(&first), &all(&first)));
        assert!(Arc::ptr_eq(&index(&first), &index(&first)));
        assert!(Arc::ptr_eq(&document(&first, own), &document(&first, own)));
        assert!(!Arc::ptr_eq(&document(&first, own), &document(&second, own)));
        assert!(!Arc::ptr_eq(&all(&first), &all(&second)));
        for built_in in ["api/v1", "version"] {
            assert!(Arc::ptr_eq(&document(&first, built_in), &document(&second, built_in)));
        }
    }
}
