//! The addresses behind services: Endpoints and EndpointSlices of services with a selector.
//!
//! Follows kube-controller-manager's `pkg/controller/endpoint` and `pkg/controller/endpointslice` with
//! `staging/src/k8s.io/endpointslice` (1.36). Ports and addresses keep the order of the service and of the pods' names, where
//! kube-controller-manager orders by hashes. It sets no topology hints, and does not cut Endpoints at 1,000 addresses.

mod legacy;
mod slices;

use serde_json::{Map, Value, json};

use super::Outcome;
use super::cluster::{
    Cluster, ENDPOINT_SLICES, ENDPOINTS, Fault, NODES, PODS, SERVICES, has_labels, unless_gone,
};
use super::pods::{is_over, is_ready};
use crate::meta;

pub(super) const WATCHES: &[&str] = &[
    SERVICES.collection,
    PODS.collection,
    NODES.collection,
    ENDPOINTS.collection,
    ENDPOINT_SLICES.collection,
];

/// The time of the change that an update follows (`EndpointsLastChangeTriggerTime` of k8s.io/api/core/v1).
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
/// The label of endpoints whose service has no address (`IsHeadlessService` of k8s.io/api/core/v1).
const HEADLESS: &str = "service.kubernetes.io/headless";

/// Returns the keys of an event: a service's own; for a pod those of services that select it, for a node those of its
/// pods' services, for a slice that of its service. Endpoints of users only count when deleted, since some may exist
/// without a service. Those of this controller always count, so that they are deleted if their service is gone.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection == SERVICES.collection {
        return vec![key.to_owned()];
    }
    if collection == PODS.collection {
        return selecting(cluster, object);
    }
    if collection == NODES.collection {
        let pods = cluster.everywhere(PODS).into_iter();
        let here = pods.filter(|pod| pod["spec"]["nodeName"] == meta::name(object));
        return here.flat_map(|pod| selecting(cluster, &pod)).collect();
    }
    if collection == ENDPOINT_SLICES.collection {
        return slices::service_of(object).into_iter().collect();
    }
    let leads = legacy::is_ours(object) || cluster.get(ENDPOINTS, key).is_none();
    if leads { vec![key.to_owned()] } else { Vec::new() }
}

/// Returns the services that select a pod.
fn selecting(cluster: &Cluster, pod: &Value) -> Vec<String> {
    let namespace = meta::namespace(pod);
    let services = cluster.list(SERVICES, namespace);
    let selecting = services.iter().filter(|service| selects(service, pod));
    selecting.map(|service| format!("{namespace}/{}", meta::name(service))).collect()
}

fn selects(service: &Value, pod: &Value) -> bool {
    let selector = &service["spec"]["selector"];
    selector.as_object().is_some_and(|map| !map.is_empty())
        && has_labels(&pod["metadata"]["labels"], selector)
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(SERVICES, key) else {
        if let Some(left) = cluster.get(ENDPOINTS, key) {
            unless_gone(cluster.delete(ENDPOINTS, &left.value, json!({})).await)?;
        }
        return Ok(None);
    };
    let service = &stored.value;
    let selector = service["spec"]["selector"].as_object();
    if service["spec"]["type"] == "ExternalName" || selector.is_none_or(Map::is_empty) {
        return Ok(None);
    }
    let is_behind = |pod: &Value| selects(service, pod) && has_endpoint(pod);
    let pods = cluster.list_where(PODS, meta::namespace(service), is_behind);
    legacy::sync(cluster, service, &pods).await?;
    slices::sync(cluster, service, &pods).await?;
    Ok(None)
}

/// `ShouldPodBeInEndpoints`, without the case of terminating pods.
fn has_endpoint(pod: &Value) -> bool {
    !is_over(pod) && pod["status"]["podIPs"].as_array().is_some_and(|addresses| !addresses.is_empty())
}

fn publishes_not_ready(service: &Value) -> bool {
    service["spec"]["publishNotReadyAddresses"] == true
}

/// The negation of `IsServiceIPSet`.
fn is_headless(service: &Value) -> bool {
    matches!(service["spec"]["clusterIP"].as_str(), None | Some("" | "None"))
}

/// Returns the address families of a service; its Endpoints use the first.
fn families(service: &Value) -> Vec<&str> {
    let families = meta::strings(&service["spec"]["ipFamilies"]);
    if families.is_empty() { vec!["IPv4"] } else { families }
}

/// The addresses of a pod in a family.
fn addresses<'a>(pod: &'a Value, family: &str) -> Vec<&'a str> {
    let all = pod["status"]["podIPs"].as_array().into_iter().flatten();
    let all = all.filter_map(|address| address["ip"].as_str());
    all.filter(|address| address.contains(':') == (family == "IPv6")).collect()
}

/// Returns the pod's port for a service's port: `FindPort`. A named port may be that of a sidecar.
fn target_port(pod: &Value, port: &Value) -> Option<i64> {
    let Some(name) = port["targetPort"].as_str() else { return port["targetPort"].as_i64() };
    let list = |list: &str| pod["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
    let beside = list("initContainers").iter().filter(|container| container["restartPolicy"] == "Always");
    list("containers")
        .iter()
        .chain(beside)
        .flat_map(|container| container["ports"].as_array().into_iter().flatten())
        .find(|own| own["name"] == name && own["protocol"] == port["protocol"])?["containerPort"]
        .as_i64()
}

/// Returns the ports of a pod's endpoint. A port whose name the pod does not have is left out.
fn ports(service: &Value, pod: &Value, always_named: bool) -> Vec<Value> {
    let all = service["spec"]["ports"].as_array().into_iter().flatten();
    let found = all.filter_map(|port| {
        let mut out = json!({"port": target_port(pod, port)?, "protocol": port["protocol"]});
        let name = port["name"].as_str().unwrap_or_default();
        if always_named || !name.is_empty() {
            out["name"] = name.into();
        }
        if !port["appProtocol"].is_null() {
            out["appProtocol"] = port["appProtocol"].clone();
        }
        Some(out)
    });
    found.collect()
}

/// `ShouldSetHostname`.
fn hostname<'a>(service: &Value, pod: &'a Value) -> Option<&'a str> {
    let name = pod["spec"]["hostname"].as_str().filter(|name| !name.is_empty())?;
    (pod["spec"]["subdomain"] == meta::name(service)).then_some(name)
}

fn target(pod: &Value) -> Value {
    json!({"kind": "Pod", "namespace": meta::namespace(pod), "name": meta::name(pod), "uid": meta::text(pod, "uid")})
}

/// Returns the labels that endpoints copy from their service, with one for headless services.
fn labels(service: &Value) -> Map<String, Value> {
    let mut labels = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    if is_headless(service) {
        labels.insert(HEADLESS.to_owned(), "".into());
    } else {
        labels.remove(HEADLESS);
    }
    labels
}

/// Returns the time of the last relevant change: the creation of the service, or a change of a pod's readiness.
fn trigger_time(service: &Value, pods: &[Value]) -> Value {
    let ready = pods.iter().filter_map(|pod| {
        let mut conditions = pod["status"]["conditions"].as_array()?.iter();
        conditions.find(|condition| condition["type"] == "Ready")?["lastTransitionTime"].as_str()
    });
    ready.chain([meta::text(service, "creationTimestamp")]).max().into()
}

/// Ignores refused creates, as the namespace is terminating.
fn unless_ending(result: Result<Value, Fault>) -> Result<(), Fault> {
    match result {
        Err(fault) if fault.code == 403 => Ok(()),
        result => unless_gone(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_port_is_looked_up_in_containers_and_sidecars() {
        let named =
            |name: &str, number: i64| json!([{"name": name, "containerPort": number, "protocol": "TCP"}]);
        let pod = json!({"spec": {
            "containers": [{"ports": named("http", 8080)}],
            "initContainers": [
                {"ports": named("once", 1)}, {"restartPolicy": "Always", "ports": named("side", 9090)}]}});
        let port = |target: Value| json!({"targetPort": target, "protocol": "TCP", "port": 80});
        assert_eq!(target_port(&pod, &port(json!("http"))), Some(8080));
        assert_eq!(target_port(&pod, &port(json!("side"))), Some(9090));
        assert_eq!(target_port(&pod, &port(json!("once"))), None);
        assert_eq!(target_port(&pod, &port(json!(7))), Some(7));
        let mut other = port(json!("http"));
        other["protocol"] = "UDP".into();
        assert_eq!(target_port(&pod, &other), None);
    }
}
