//! Endpoints: all addresses of a service in one object. Source: `pkg/controller/endpoint/endpoints_controller.go`.

use serde_json::{Value, json};

use super::super::cluster::{Cluster, ENDPOINTS, Fault};
use super::{
    TRIGGER_TIME, addresses, families, hostname, is_headless, is_ready, labels, ports, publishes_not_ready,
    target, trigger_time, unless_ending,
};
use crate::meta::{self, map_at};

/// Marks Endpoints of the controller, unlike those of users.
const MANAGED_BY: (&str, &str) = ("endpoints.kubernetes.io/managed-by", "endpoint-controller");

pub(super) fn is_ours(endpoints: &Value) -> bool {
    endpoints["metadata"]["labels"][MANAGED_BY.0] == MANAGED_BY.1
}

pub(super) async fn sync(cluster: &Cluster, service: &Value, pods: &[Value]) -> Result<(), Fault> {
    let namespace = meta::namespace(service);
    let key = format!("{namespace}/{}", meta::name(service));
    let stored = cluster.get(ENDPOINTS, &key);
    let subsets = subsets(service, pods);
    let mut labels = labels(service);
    labels.insert(MANAGED_BY.0.to_owned(), MANAGED_BY.1.into());
    if let Some(stored) = &stored
        && stored.value["subsets"].as_array().map_or(&[][..], Vec::as_slice) == subsets
        && stored.value["metadata"]["labels"].as_object() == Some(&labels)
    {
        return Ok(());
    }
    let new = || json!({"metadata": {"name": meta::name(service), "namespace": namespace}});
    let mut next = stored.as_ref().map_or_else(new, |stored| stored.value.clone());
    next["subsets"] = subsets.into();
    next["metadata"]["labels"] = labels.into();
    map_at(&mut next["metadata"], "annotations").insert(TRIGGER_TIME.to_owned(), trigger_time(service, pods));
    match stored {
        Some(_) => cluster.update(ENDPOINTS, &next).await.map(drop),
        None => unless_ending(cluster.create(ENDPOINTS, namespace, &next).await),
    }
}

/// Builds one subset for all addresses with the same ports (`RepackSubsets` of `pkg/api/v1/endpoints`).
fn subsets(service: &Value, pods: &[Value]) -> Vec<Value> {
    let tolerant = publishes_not_ready(service);
    let family = families(service)[0];
    let mut subsets: Vec<Value> = Vec::new();
    for pod in pods.iter().filter(|pod| tolerant || !meta::is_terminating(pod)) {
        let ports = ports(service, pod, false);
        let may_lack_ports = is_headless(service) && service["spec"]["ports"].is_null();
        let Some(ip) = addresses(pod, family).first().copied() else { continue };
        if ports.is_empty() && !may_lack_ports {
            continue;
        }
        let mut address = json!({"ip": ip, "nodeName": pod["spec"]["nodeName"], "targetRef": target(pod)});
        if let Some(name) = hostname(service, pod) {
            address["hostname"] = name.into();
        }
        let ports = if ports.is_empty() { Value::Null } else { ports.into() };
        let at = subsets.iter().position(|subset| subset["ports"] == ports).unwrap_or_else(|| {
            let subset = if ports.is_null() { json!({}) } else { json!({"ports": ports}) };
            subsets.push(subset);
            subsets.len() - 1
        });
        let list = if tolerant || is_ready(pod) { "addresses" } else { "notReadyAddresses" };
        if let Some(list) = subsets[at].as_object_mut().map(|s| s.entry(list).or_insert_with(|| json!([])))
            && let Some(list) = list.as_array_mut()
        {
            list.push(address);
        }
    }
    subsets
}
