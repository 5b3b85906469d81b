//! Emits the CRDs that a client package embeds, for its fake clientset and its validation: one list as JSON,
//! which parses ten times as fast as YAML. For validation, the list also has the validating admission policies.
//!
//! They are those of the CRD emitter, without descriptions, one per line. A kind that skips its CRD has one
//! here that accepts any object, so that its clients also work on the fake.

use std::collections::BTreeMap;

use kubesmith_apiextensions::structural::validate_crd;
use serde_json::Value;

use super::policy;
use crate::definition::{self, Definition, Version};
use crate::ir::{Conversion, Ir, Resource, TypeId};
use crate::output::CLIENT_JSON_MARK;
use crate::parallel;
use crate::schema::{Schema, Schemas};

/// The file of the list, relative to the package's source folder.
pub const FILE: &str = "crds.json";

/// Emits the list. With `all`, it includes the kinds that skip their CRD; with `policies`, the policies.
pub fn emit(ir: &Ir, schemas: &Schemas, all: bool, policies: bool) -> String {
    let schemas = schemas.undocumented();
    let definitions = definition::build(ir, &schemas);
    let written = parallel::map(&definitions, |definition| definition.to_value().to_string());
    let open = if all { left_out(ir, &definitions) } else { Vec::new() };
    let lines: Vec<String> = written.into_iter().chain(open.iter().map(Value::to_string)).collect();
    let mut rules = policy::objects(ir);
    rules.retain(|object| policies && is_validating(object));
    let rules: Vec<String> = rules.iter().map(Value::to_string).collect();
    let rules = match rules.as_slice() {
        [] => String::new(),
        some => format!(",\n\"policies\": [\n{}\n]", some.join(",\n")),
    };
    format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"List\",\n\"description\": \"{CLIENT_JSON_MARK} v{}. DO NOT EDIT.\",\n\"items\": [\n{}\n]{rules}}}\n",
        env!("CARGO_PKG_VERSION"),
        lines.join(",\n")
    )
}

fn is_validating(object: &Value) -> bool {
    object["kind"].as_str().is_some_and(|kind| kind.starts_with("ValidatingAdmissionPolicy"))
}

/// The names of the CRDs by the types of their versions, without versions that their CRD skips.
pub fn names(ir: &Ir, schemas: &Schemas) -> BTreeMap<TypeId, String> {
    let definitions = definition::build(ir, schemas);
    let versions = definitions.iter().flat_map(|definition| {
        let name = format!("{}.{}", definition.first().plural, definition.group);
        definition.versions.iter().map(move |version| (version, name.clone()))
    });
    versions
        .filter(|(version, _)| version.schema.is_some())
        .map(|(it, name)| (it.resource.root, name))
        .collect()
}

/// Permissive definitions of kinds with clients but without CRD: their objects may have any fields.
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
    // Servers refuse some of them, such as kinds of Kubernetes' own groups.
    let objects = kinds.iter().map(Definition::to_value);
    objects.filter(|object| validate_crd(object, None).is_empty()).collect()
}

fn has_kind(definition: &Definition<'_>, group: &str, resource: &Resource) -> bool {
    definition.group == group && definition.versions.iter().any(|other| other.resource.kind == resource.kind)
}
