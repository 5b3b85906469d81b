//! Emits OpenAPI v3 documents with the definitions of custom resources, one for each served version of a
//! group: `apis__<group>__<version>_openapi.json`, named like those of Kubernetes.
//!
//! The definitions are those that an API server publishes at `/openapi/v3/apis/<group>/<version>`. Paths are
//! left out, as they depend on the server.

use std::collections::BTreeMap;

use kubesmith_apiextensions::openapi::{self, CustomKind};
use serde::Serialize;
use serde_json::Value;

use crate::ir::{Group, Ir, Version};
use crate::output::{JSON_MARK, OutputTree};
use crate::schema::Schemas;

/// The fields in the order of servers.
#[derive(Serialize)]
struct Document {
    openapi: &'static str,
    info: Info,
    paths: BTreeMap<String, Value>,
    components: Components,
}

#[derive(Serialize)]
struct Info {
    title: String,
    version: String,
    description: String,
}

#[derive(Serialize)]
struct Components {
    schemas: BTreeMap<String, Value>,
}

/// Emits every document.
pub fn emit(ir: &Ir, schemas: &Schemas) -> OutputTree {
    let mut tree = OutputTree::new();
    for group in &ir.groups {
        for version in &group.versions {
            let definitions = definitions(group, version, schemas);
            if !definitions.is_empty() {
                let name = format!("apis__{}__{}_openapi.json", group.name, version.name);
                tree.insert(name, text(group, version, definitions));
            }
        }
    }
    tree
}

/// The definitions of the version's served kinds.
fn definitions(group: &Group, version: &Version, schemas: &Schemas) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for resource in version.resources.iter().filter(|resource| resource.crd.served && !resource.crd.skipped) {
        let kind = CustomKind {
            group: &group.name,
            version: &version.name,
            kind: &resource.kind,
            list_kind: &resource.list_kind,
            plural: &resource.plural,
            selectable_fields: &resource.crd.selectable_fields,
        };
        let schema = schemas.of(resource).map_or(Value::Null, crate::schema::Schema::to_value);
        out.extend(openapi::definitions(&kind, schema));
    }
    if !out.is_empty() {
        out.extend(openapi::metadata_definitions());
    }
    out
}

fn text(group: &Group, version: &Version, schemas: BTreeMap<String, Value>) -> String {
    let document = Document {
        openapi: "3.0.0",
        info: Info {
            title: group.name.clone(),
            version: version.name.clone(),
            description: format!("{JSON_MARK} v{}. DO NOT EDIT.", env!("CARGO_PKG_VERSION")),
        },
        paths: BTreeMap::new(),
        components: Components { schemas },
    };
    // Strings and maps with string keys always have a JSON form.
    serde_json::to_string_pretty(&document).map(|text| text + "\n").unwrap_or_default()
}
