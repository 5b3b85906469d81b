//! Emits the CRDs of a client package's fake clientset: one list as JSON, which reads ten times as fast as YAML.
//!
//! They are those of the CRD emitter, without descriptions. A kind that skips its CRD has one here that accepts any
//! object, so that its clients work on the fake as well.

use kubesmith_apiextensions::structural::validate_crd;
use serde::Serialize;
use serde_json::Value;

use crate::definition::{self, Definition, Version};
use crate::ir::{Conversion, Ir, Resource};
use crate::output::CLIENT_JSON_MARK;
use crate::schema::{Schema, Schemas};

/// The fields in the order in which they are written: the mark stands before the CRDs.
#[derive(Serialize)]
struct List {
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    kind: &'static str,
    description: String,
    items: Vec<Value>,
}

/// Emits the list.
pub fn emit(ir: &Ir, schemas: &Schemas) -> String {
    let schemas = schemas.undocumented();
    let definitions = definition::build(ir, &schemas);
    let list = List {
        api_version: "v1",
        kind: "List",
        description: format!("{CLIENT_JSON_MARK} v{}. DO NOT EDIT.", env!("CARGO_PKG_VERSION")),
        items: definitions.iter().map(Definition::to_value).chain(left_out(ir, &definitions)).collect(),
    };
    // Strings and maps with string keys always have a JSON form.
    serde_json::to_string_pretty(&list).map(|text| text + "\n").unwrap_or_default()
}

/// Definitions of kinds with clients that have no CRD: their objects may hold anything.
fn left_out(ir: &Ir, written: &[Definition<'_>]) -> Vec<Value> {
    let any = Schema { preserve_unknown_fields: true, ..Schema::of_type("object") };
    let mut kinds: Vec<Definition<'_>> = Vec::new();
    for group in &ir.groups {
        for version in &group.versions {
            let with_client = version.resources.iter().filter(|resource| resource.client.is_some());
            for resource in with_client.filter(|it| !written.iter().any(|def| has_kind(def, &group.name, it)))
            {
                let known = kinds.iter_mut().find(|def| has_kind(def, &group.name, resource));
                let (name, schema) = (version.name.as_str(), Some(&any));
                let version = Version { name, resource, served: true, storage: known.is_none(), schema };
                match known {
                    Some(definition) => definition.versions.push(version),
                    None => kinds.push(Definition {
                        group: &group.name,
                        versions: vec![version],
                        conversion: Some(&Conversion::None),
                        refuses_unknown_fields: false,
                    }),
                }
            }
        }
    }
    // No server takes some of them, such as kinds of Kubernetes' own groups.
    let objects = kinds.iter().map(Definition::to_value);
    objects.filter(|object| validate_crd(object, None).is_empty()).collect()
}

fn has_kind(definition: &Definition<'_>, group: &str, resource: &Resource) -> bool {
    definition.group == group && definition.versions.iter().any(|other| other.resource.kind == resource.kind)
}
