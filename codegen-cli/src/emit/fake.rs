//! Emits the CRDs of a client package's fake clientset: one list as JSON, which reads ten times as fast as YAML.
//!
//! They are those of the CRD emitter, without descriptions. A kind that leaves out its CRD has one here, which takes
//! anything, since its clients are to work on the fake as well.

use kubesmith_apiextensions::structural::validate_crd;
use serde::Serialize;
use serde_json::{Value, json};

use super::crd::{self, Definition};
use crate::ir::{Ir, Resource};
use crate::output::CLIENT_JSON_MARK;
use crate::schema::Schemas;

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
    let definitions = crd::definitions(ir);
    let written = definitions.iter().filter_map(|definition| crd::object(definition, &schemas));
    let list = List {
        api_version: "v1",
        kind: "List",
        description: format!("{CLIENT_JSON_MARK} v{}. DO NOT EDIT.", env!("CARGO_PKG_VERSION")),
        items: written.chain(left_out(ir, &definitions)).collect(),
    };
    // Strings and maps with string keys always have a JSON form.
    serde_json::to_string_pretty(&list).map(|text| text + "\n").unwrap_or_default()
}

/// Kinds with clients that have no CRD.
fn left_out<'a>(ir: &'a Ir, written: &[Definition<'a>]) -> Vec<Value> {
    let mut kinds: Vec<Definition<'a>> = Vec::new();
    for group in &ir.groups {
        for version in &group.versions {
            let with_client = version.resources.iter().filter(|resource| resource.client.is_some());
            for resource in with_client.filter(|it| !written.iter().any(|def| has_kind(def, &group.name, it)))
            {
                match kinds.iter_mut().find(|def| has_kind(def, &group.name, resource)) {
                    Some(definition) => definition.versions.push((&version.name, resource)),
                    None => kinds
                        .push(Definition { group: &group.name, versions: vec![(&version.name, resource)] }),
                }
            }
        }
    }
    kinds.iter().filter_map(open).collect()
}

fn has_kind(definition: &Definition<'_>, group: &str, resource: &Resource) -> bool {
    definition.group == group && definition.versions.iter().any(|(_, other)| other.kind == resource.kind)
}

/// A CRD whose objects may hold anything; `None` for what no server takes, such as a kind of Kubernetes' own groups.
fn open(definition: &Definition<'_>) -> Option<Value> {
    let mut object = crd::object(definition, &Schemas::default())?;
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for (at, version) in object["spec"]["versions"].as_array_mut()?.iter_mut().enumerate() {
        version["schema"]["openAPIV3Schema"] = schema.clone();
        (version["served"], version["storage"]) = (true.into(), (at == 0).into());
    }
    object["spec"]["conversion"] = json!({"strategy": "None"});
    validate_crd(&object, None).is_empty().then_some(object)
}
