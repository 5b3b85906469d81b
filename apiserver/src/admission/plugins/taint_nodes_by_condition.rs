//! `TaintNodesByCondition`: a new node takes no pods until it is ready.

use serde_json::{Value, json};

use super::super::{Attributes, Operation};
use super::object_of;
use crate::status::ApiResult;

/// The taint of nodes that are not ready (`TaintNodeNotReady` of k8s.io/api/core/v1/well_known_taints.go).
pub(crate) const NOT_READY: &str = "node.kubernetes.io/not-ready";

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let Some(node) = object_of(attributes, object, "nodes", &[Operation::Create]) else { return Ok(()) };
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    let is_same = |own: &Value| own["key"] == taint["key"] && own["effect"] == taint["effect"];
    let taints = node["spec"]["taints"].as_array();
    if attributes.call.server.is_bare() || taints.is_some_and(|taints| taints.iter().any(is_same)) {
        return Ok(());
    }
    let taints: Vec<Value> = taints.into_iter().flatten().cloned().chain([taint]).collect();
    node["spec"]["taints"] = Value::Array(taints);
    Ok(())
}
