//! Emits admission policies and their bindings: `policies.yaml`.

use serde_json::Value;

use super::manifest;
use crate::ir::{Ir, Policy};
use crate::output::{Kind, OutputTree};

/// The name of the file.
pub(super) const FILE: &str = "policies.yaml";

/// Emits the file, unless there is no policy.
pub fn emit(ir: &Ir, header: &str) -> OutputTree {
    manifest::tree(FILE, Kind::Policy, header, &objects(ir))
}

/// The objects of the file: the policies by kind and name, each before its bindings.
pub(crate) fn objects(ir: &Ir) -> Vec<Value> {
    let mut policies: Vec<&Policy> = ir.policies().collect();
    let key = |policy: &Policy| ["kind", "name"].map(|field| text(&policy.object, field).to_string());
    policies.sort_by_key(|policy| key(policy));
    let with_bindings = policies.into_iter().flat_map(|policy| {
        std::iter::once(&policy.object).chain(policy.bindings.iter().map(|(binding, _)| binding))
    });
    with_bindings.cloned().collect()
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    let found = if field == "name" { &object["metadata"]["name"] } else { &object[field] };
    found.as_str().unwrap_or_default()
}
