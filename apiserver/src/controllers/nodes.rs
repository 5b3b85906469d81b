//! The taint of nodes that are not ready follows their condition: a part of kube-controller-manager's node-lifecycle-controller.

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{Cluster, NODES, unless_gone};
use crate::admission::NOT_READY;

pub(super) const WATCHES: &[&str] = &[NODES.collection];

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(NODES, key) else { return Ok(None) };
    let node = &stored.value;
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    if ready && taints(node).any(|taint| taint["key"] == NOT_READY) {
        unless_gone(cluster.patch(NODES, node, &without_not_ready(node)).await)?;
    }
    Ok(None)
}

/// The patch that takes the taint off a node.
pub(super) fn without_not_ready(node: &Value) -> Value {
    let others: Vec<&Value> = taints(node).filter(|taint| taint["key"] != NOT_READY).collect();
    let taints = if others.is_empty() { Value::Null } else { json!(others) };
    json!({"spec": {"taints": taints}})
}

fn taints(node: &Value) -> impl Iterator<Item = &Value> {
    node["spec"]["taints"].as_array().into_iter().flatten()
}
