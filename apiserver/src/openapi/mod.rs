//! `/openapi/v3` and `/openapi/v2`: the schemas and paths of all served resources.

mod builtin;
mod gnostic;
mod paths;
mod v2;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::http::header::{CACHE_CONTROL, EXPIRES, LOCATION, VARY};
use ::http::request::Parts;
use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use kubesmith_apiextensions::openapi::{self, CustomKind, GROUP_VERSION_KIND};
use serde_json::{Value, json};

use crate::encode;
use crate::http::etag;
use crate::http::negotiate;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::registry::{Behaviour, Registry, ResourceDef};
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// The definition of every patch.
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

fn patch_definition() -> Value {
    let text = "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.";
    json!({"description": text, "type": "object"})
}

/// A document in JSON with its tag.
struct Rendered {
    json: Bytes,
    tag: String,
}

impl Rendered {
    fn new(document: &Value) -> Self {
        let json = encode::to_vec(document);
        Self { tag: etag::of(&json), json: json.into() }
    }
}

/// The rendered documents of built-in groups, which are the same in every server.
static BUILT_IN: Mutex<BTreeMap<String, Arc<Rendered>>> = Mutex::new(BTreeMap::new());

/// Handles a path below `/openapi` as kube-openapi's `handler` and `handler3` do.
pub(crate) fn answer(server: &Server, path: &str, parts: &Parts) -> ApiResult<Reply> {
    let registry = server.registry();
    match path {
        "/openapi/v2" => {
            let document = Rendered::new(&v2::everything(&registry));
            return Ok(serve(parts, &V2, &document));
        }
        "/openapi/v3" => {
            let index = Rendered::new(&json!({"paths": documents(&registry)}));
            // kube-aggregator leaves the content type to Go's `http.ServeContent`, which takes JSON for text.
            let reply = || Reply::text(200, index.json.clone());
            return Ok(etag::tagged(&parts.headers, &index.tag, reply));
        }
        _ => {}
    }
    let name = path.strip_prefix("/openapi/v3/").ok_or(ApiError::NoSuchPath)?;
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
        Some(false) => etag::tagged(&parts.headers, &document.tag, || {
            let value = serde_json::from_slice(&document.json).unwrap_or_default();
            match gnostic::encode(forms.message, &value) {
                Ok(bytes) => Reply::rendered(forms.protobuf[0], bytes),
                Err(why) => {
                    tracing::error!("OpenAPI document cannot be encoded: {why}");
                    Reply::empty(503)
                }
            }
        }),
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
            return Some(Arc::new(Rendered::new(&discovery_document(&path))));
        }
    };
    if registry.of_version(group, version).iter().any(|def| def.is_custom()) {
        return Some(Arc::new(Rendered::new(&document(registry, group, version))));
    }
    let mut known = BUILT_IN.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = known.entry(name.to_owned());
    Some(entry.or_insert_with(|| Arc::new(Rendered::new(&document(registry, group, version)))).clone())
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

/// Builds the document of a group and version.
fn document(registry: &Registry, group: &str, version: &str) -> Value {
    let defs = registry.of_version(group, version);
    let mut schemas = builtin::shared(defs.iter().any(|def| def.scale.is_some()));
    schemas.insert(PATCH.to_owned(), patch_definition());
    // `generate` writes the same definitions, so clients generated from either agree.
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

/// Returns the name of a custom resource's definition.
fn custom_name(def: &ResourceDef, kind: &str) -> String {
    openapi::definition_name(&def.group, &def.version, kind)
}

fn document_name(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// Returns the definitions of a resource, by name.
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
