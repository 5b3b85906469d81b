//! EndpointSlices: the addresses of a service in chunks. Source: `staging/src/k8s.io/endpointslice`.

use serde_json::{Value, json};

use super::super::cluster::{Cluster, ENDPOINT_SLICES, Fault, NODES, SERVICES, unless_gone};
use super::super::owners::{controller_reference, is_controlled_by};
use super::{
    TRIGGER_TIME, addresses, families, hostname, is_ready, labels, ports, publishes_not_ready, target,
    trigger_time, unless_ending,
};
use crate::meta::{self, map_at};

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpointslice-controller.k8s.io";

/// The limit of endpoints in a slice: `--max-endpoints-per-slice` of kube-controller-manager.
const MOST: usize = 100;

/// Returns the key of the service that a slice of this controller belongs to.
pub(super) fn service_of(slice: &Value) -> Option<String> {
    let labels = &slice["metadata"]["labels"];
    let name = labels[SERVICE_NAME].as_str().filter(|_| labels[MANAGED_BY] == CONTROLLER)?;
    Some(format!("{}/{name}", meta::namespace(slice)))
}

/// The writes for the slices of a service; slices to create have no name.
#[derive(Default)]
struct Plan {
    create: Vec<Value>,
    update: Vec<Value>,
    delete: Vec<Value>,
}

pub(super) async fn sync(cluster: &Cluster, service: &Value, pods: &[Value]) -> Result<(), Fault> {
    let namespace = meta::namespace(service);
    let key = format!("{namespace}/{}", meta::name(service));
    let is_ours = |slice: &Value| service_of(slice).as_ref() == Some(&key);
    let mut existing = cluster.list_where(ENDPOINT_SLICES, namespace, is_ours);
    let mut plan = Plan::default();
    for family in families(service) {
        let own = take(&mut existing, |slice| slice["addressType"] == family);
        plan.add(of_family(cluster, service, pods, family, own));
    }
    plan.delete.append(&mut existing);
    plan.reuse(service);
    let time = trigger_time(service, pods);
    if !meta::is_terminating(service) {
        for mut slice in plan.create {
            map_at(&mut slice["metadata"], "annotations").insert(TRIGGER_TIME.to_owned(), time.clone());
            unless_ending(cluster.create(ENDPOINT_SLICES, namespace, &slice).await)?;
        }
    }
    for mut slice in plan.update {
        map_at(&mut slice["metadata"], "annotations").insert(TRIGGER_TIME.to_owned(), time.clone());
        cluster.update(ENDPOINT_SLICES, &slice).await?;
    }
    for slice in &plan.delete {
        unless_gone(cluster.delete(ENDPOINT_SLICES, slice, json!({})).await)?;
    }
    Ok(())
}

/// `reconcileByAddressType`.
fn of_family(
    cluster: &Cluster,
    service: &Value,
    pods: &[Value],
    family: &str,
    mut existing: Vec<Value>,
) -> Plan {
    let mut plan = Plan::default();
    let had = existing.len();
    plan.delete = take(&mut existing, |slice| !is_controlled_by(slice, service));
    for (ports, endpoints) in wanted(cluster, service, pods, family) {
        let own = take(&mut existing, |slice| list(slice, "ports") == ports);
        plan.add(of_ports(service, family, &ports, endpoints, own));
    }
    plan.delete.append(&mut existing);
    // A service without endpoints has an empty slice.
    if plan.delete.len() == had && plan.create.is_empty() {
        let empty = new_slice(service, family, &[]);
        match &plan.delete[..] {
            [only] if is_controlled_by(only, service) && is_empty(only) && has_labels_of(only, service) => {
                plan.delete.clear();
            }
            _ => plan.create.push(empty),
        }
    }
    plan
}

/// Groups the wanted endpoints by their ports.
fn wanted(cluster: &Cluster, service: &Value, pods: &[Value], family: &str) -> Vec<(Vec<Value>, Vec<Value>)> {
    let mut groups: Vec<(Vec<Value>, Vec<Value>)> = Vec::new();
    for pod in pods {
        let addresses = addresses(pod, family);
        let node = cluster.get(NODES, pod["spec"]["nodeName"].as_str().unwrap_or_default());
        // A pod on a deleted node serves nobody.
        if addresses.is_empty() || (node.is_none() && !publishes_not_ready(service)) {
            continue;
        }
        let ports = ports(service, pod, true);
        let endpoint = endpoint(service, pod, node.as_ref().map(|node| &*node.value), &addresses);
        match groups.iter_mut().find(|(of, _)| *of == ports) {
            Some((_, endpoints)) => endpoints.push(endpoint),
            None => groups.push((ports, vec![endpoint])),
        }
    }
    groups
}

/// `podToEndpoint`.
fn endpoint(service: &Value, pod: &Value, node: Option<&Value>, addresses: &[&str]) -> Value {
    let (serving, terminating) = (is_ready(pod), meta::is_terminating(pod));
    let ready = publishes_not_ready(service) || (serving && !terminating);
    let mut endpoint = json!({
        "addresses": addresses, "targetRef": target(pod),
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
    });
    if let Some(name) = pod["spec"]["nodeName"].as_str().filter(|name| !name.is_empty()) {
        endpoint["nodeName"] = name.into();
    }
    if let Some(zone) =
        node.and_then(|node| node["metadata"]["labels"]["topology.kubernetes.io/zone"].as_str())
    {
        endpoint["zone"] = zone.into();
    }
    if let Some(name) = hostname(service, pod) {
        endpoint["hostname"] = name.into();
    }
    endpoint
}

/// `reconcileByPortMapping`: endpoints stay in the slice that they are in; others fill slices that have room.
fn of_ports(
    service: &Value,
    family: &str,
    ports: &[Value],
    mut wanted: Vec<Value>,
    existing: Vec<Value>,
) -> Plan {
    let mut plan = Plan::default();
    let mut kept: Vec<(Value, Vec<Value>)> = Vec::new();
    for slice in existing {
        let stay = |old: &Value| take(&mut wanted, |new| is_same(old, new)).pop();
        let stay: Vec<Value> = list(&slice, "endpoints").iter().filter_map(stay).collect();
        if stay.is_empty() {
            plan.delete.push(slice);
        } else {
            kept.push((slice, stay));
        }
    }
    for (slice, mut endpoints) in kept {
        let room = MOST.saturating_sub(endpoints.len()).min(wanted.len());
        endpoints.extend(wanted.drain(..room));
        if list(&slice, "endpoints") != endpoints || !has_labels_of(&slice, service) {
            let mut next = slice;
            next["endpoints"] = endpoints.into();
            next["metadata"]["labels"] = slice_labels(service);
            plan.update.push(next);
        }
    }
    for endpoints in wanted.chunks(MOST) {
        let mut slice = new_slice(service, family, ports);
        slice["endpoints"] = endpoints.into();
        plan.create.push(slice);
    }
    plan
}

/// Reports whether two endpoints are of one pod.
fn is_same(a: &Value, b: &Value) -> bool {
    a["targetRef"]["uid"] == b["targetRef"]["uid"] && a["addresses"] == b["addresses"]
}

impl Plan {
    fn add(&mut self, other: Self) {
        self.create.extend(other.create);
        self.update.extend(other.update);
        self.delete.extend(other.delete);
    }

    /// Reuses slices to delete for those to create.
    fn reuse(&mut self, service: &Value) {
        for old in std::mem::take(&mut self.delete) {
            let fits =
                |new: &Value| new["addressType"] == old["addressType"] && is_controlled_by(&old, service);
            match self.create.iter().rposition(fits) {
                Some(at) => {
                    let mut slice = self.create.remove(at);
                    slice["metadata"]["name"] = meta::name(&old).into();
                    meta::remove(&mut slice, "generateName");
                    self.update.push(slice);
                }
                None => self.delete.push(old),
            }
        }
    }
}

fn new_slice(service: &Value, family: &str, ports: &[Value]) -> Value {
    json!({
        "metadata": {
            "generateName": format!("{}-", meta::name(service)), "namespace": meta::namespace(service),
            "labels": slice_labels(service), "ownerReferences": [controller_reference(service, SERVICES)],
        },
        "addressType": family, "endpoints": [], "ports": ports,
    })
}

/// `setEndpointSliceLabels`.
fn slice_labels(service: &Value) -> Value {
    let mut labels = labels(service);
    labels.insert(SERVICE_NAME.to_owned(), meta::name(service).into());
    labels.insert(MANAGED_BY.to_owned(), CONTROLLER.into());
    labels.into()
}

fn has_labels_of(slice: &Value, service: &Value) -> bool {
    slice["metadata"]["labels"] == slice_labels(service)
}

fn is_empty(slice: &Value) -> bool {
    list(slice, "endpoints").is_empty() && list(slice, "ports").is_empty()
}

fn list<'a>(slice: &'a Value, name: &str) -> &'a [Value] {
    slice[name].as_array().map_or(&[], Vec::as_slice)
}

/// Removes and returns the wanted items.
fn take(items: &mut Vec<Value>, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    items.extract_if(.., |item| wanted(item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Value {
        json!({"metadata": {"name": "s", "namespace": "n", "uid": "u"}, "spec": {"clusterIP": "10.0.0.1"}})
    }

    fn endpoints(numbers: std::ops::Range<usize>) -> Vec<Value> {
        let of = |n: usize| json!({"addresses": [n.to_string()], "targetRef": {"uid": n.to_string()}});
        numbers.map(of).collect()
    }

    fn stored(name: &str, content: std::ops::Range<usize>) -> Value {
        let mut slice = new_slice(&service(), "IPv4", &[]);
        slice["metadata"]["name"] = name.into();
        slice["endpoints"] = endpoints(content).into();
        slice
    }

    fn sizes(slices: &[Value]) -> Vec<usize> {
        slices.iter().map(|slice| list(slice, "endpoints").len()).collect()
    }

    #[test]
    fn slices_hold_a_hundred_endpoints_and_keep_unchanged_ones() {
        let plan = of_ports(&service(), "IPv4", &[], endpoints(0..250), Vec::new());
        assert_eq!((sizes(&plan.create), plan.update.len(), plan.delete.len()), (vec![100, 100, 50], 0, 0));
        let plan =
            of_ports(&service(), "IPv4", &[], endpoints(0..5), vec![stored("a", 0..2), stored("b", 2..4)]);
        assert_eq!((sizes(&plan.update), plan.create.len()), (vec![3], 0), "{:?}", plan.update);
        let plan =
            of_ports(&service(), "IPv4", &[], endpoints(2..3), vec![stored("a", 0..2), stored("b", 2..3)]);
        assert_eq!((plan.update.len(), plan.create.len(), sizes(&plan.delete)), (0, 0, vec![2]));
    }

    #[test]
    fn superfluous_slice_is_reused_instead_of_a_new_one() {
        let mut plan = Plan {
            create: vec![new_slice(&service(), "IPv4", &[])],
            update: Vec::new(),
            delete: vec![stored("a", 0..2), stored("b", 2..3)],
        };
        plan.reuse(&service());
        assert_eq!(plan.update.iter().map(meta::name).collect::<Vec<_>>(), ["a"]);
        assert_eq!((plan.create.len(), plan.delete.len()), (0, 1));
    }
}
