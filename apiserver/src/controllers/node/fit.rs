//! Decides whether the node can take a pod: the filters of kube-scheduler's default plugins, in their order. The first
//! plugin that refuses gives the reasons.
//!
//! Source: `pkg/scheduler/framework/plugins`.

use std::sync::Arc;

use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::super::cluster::{Cluster, PODS};
use super::super::pods::is_over;
use super::super::{nodes, placement};
use super::{NAME, claims, devices, limits, peers};
use crate::amounts::{self, Quantities};
use crate::meta;
use crate::store::Object;

pub(super) const PORTS_TAKEN: &str = "node(s) didn't have free ports for the requested pod ports";
pub(super) const NOT_SELECTED: &str = "node(s) didn't match Pod's node affinity/selector";

/// The reason why a pod cannot be scheduled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The claims of the pod fit no node (`PreFilter`).
    Claims(String),
    /// The devices of the pod fit no node (`PreFilter`).
    Devices(String),
    /// The reasons of the node, and whether the pod would fit if others went (`Unschedulable`, and not
    /// `UnschedulableAndUnresolvable`).
    Node(Vec<String>, bool),
}

impl Misfit {
    pub(super) fn never(reason: &str) -> Option<Self> {
        Some(Self::Node(vec![reason.to_owned()], false))
    }

    pub(super) fn for_now(reason: &str) -> Option<Self> {
        Some(Self::Node(vec![reason.to_owned()], true))
    }

    /// The reasons in the scheduler's message, each with the number of nodes.
    pub(super) fn reasons(&self) -> String {
        match self {
            Self::Claims(reason) | Self::Devices(reason) => reason.clone(),
            Self::Node(reasons, _) => {
                let mut counted: Vec<String> = reasons.iter().map(|reason| format!("1 {reason}")).collect();
                counted.sort();
                counted.join(", ")
            }
        }
    }

    /// The text of `FitError` with those of the plugins DynamicResources and DefaultPreemption, whose text is `None` when other
    /// pods go.
    pub(super) fn message(&self, pod: &Value, preemption: Option<&str>) -> String {
        let start = format!("0/1 nodes are available: {}.", self.reasons());
        let devices = match self {
            // DynamicResources finds no state of its own when an earlier `PreFilter` failed.
            Self::Claims(_) => return format!("{start} not found"),
            Self::Node(..) if devices::has_claims(pod) => "still not schedulable",
            Self::Node(..) | Self::Devices(_) => "no new claims to deallocate",
        };
        preemption.map_or(start.clone(), |refusal| format!("{start} {devices}, preemption: {refusal}"))
    }
}

/// Returns the pods of the node. The scheduler's cache has pods until they end.
pub(super) fn others(cluster: &Cluster) -> Vec<Arc<Object>> {
    cluster.objects(PODS, |other| other["spec"]["nodeName"] == NAME && !is_over(other))
}

/// Returns why the node cannot take a pod; `None` if it can.
pub(super) fn misfit(
    cluster: &Cluster,
    pod: &Value,
    devices: &[Arc<Object>],
    node: &Value,
) -> Option<Misfit> {
    if let Some(reason) = claims::unusable(cluster, pod) {
        return Some(Misfit::Claims(reason));
    }
    if let Some(reason) = devices::unusable(cluster, devices, pod) {
        return Some(Misfit::Devices(reason));
    }
    let others = others(cluster);
    let others: Vec<&Value> = others.iter().map(|other| &*other.value).collect();
    misfit_beside(cluster, pod, devices, node, &others)
}

/// Returns why the node cannot take a pod beside these others (`Filter`).
pub(super) fn misfit_beside(
    cluster: &Cluster,
    pod: &Value,
    devices: &[Arc<Object>],
    node: &Value,
    others: &[&Value],
) -> Option<Misfit> {
    let spec = &pod["spec"];
    let cordoned = node["spec"]["unschedulable"] == true;
    if cordoned && !placement::tolerates(spec, &nodes::taint(nodes::UNSCHEDULABLE)) {
        return Misfit::never("node(s) were unschedulable");
    }
    if !placement::is_tolerated(spec, node, placement::KEEPS_OFF) {
        return Misfit::never("node(s) had untolerated taint(s)");
    }
    if !placement::selects(spec, node) {
        return Misfit::never(NOT_SELECTED);
    }
    ports_taken(pod, others)
        .or_else(|| insufficient(pod, others, node))
        .or_else(|| claims::misfit(cluster, pod, others, node))
        .or_else(|| limits::elsewhere(cluster, pod, node))
        .or_else(|| peers::misspread(pod, others, node))
        .or_else(|| peers::separated(cluster, pod, others, node))
        .or_else(|| devices::misfit(devices, node))
}

/// `NodePorts`.
fn ports_taken(pod: &Value, others: &[&Value]) -> Option<Misfit> {
    are_ports_taken(pod, others).then(|| Misfit::for_now(PORTS_TAKEN)).flatten()
}

/// Reports whether other pods have a port of the node that a pod needs.
pub(super) fn are_ports_taken(pod: &Value, others: &[&Value]) -> bool {
    let taken: Vec<HostPort<'_>> = others.iter().flat_map(|other| host_ports(other)).collect();
    host_ports(pod).any(|port| taken.iter().any(|other| port.conflicts(other)))
}

/// A port of the node.
struct HostPort<'a> {
    address: &'a str,
    protocol: &'a str,
    number: i64,
}

impl HostPort<'_> {
    /// `CheckConflict` of `HostPortInfo`.
    fn conflicts(&self, other: &HostPort<'_>) -> bool {
        let is_any = |address: &str| address.is_empty() || address == "0.0.0.0";
        (self.number, self.protocol) == (other.number, other.protocol)
            && (is_any(self.address) || is_any(other.address) || self.address == other.address)
    }
}

/// `GetHostPorts` of pkg/scheduler/util: of containers that run as long as the pod.
fn host_ports(pod: &Value) -> impl Iterator<Item = HostPort<'_>> {
    let containers = |list: &str| pod["spec"][list].as_array().into_iter().flatten();
    let sidecars = containers("initContainers").filter(|container| container["restartPolicy"] == "Always");
    let ports = sidecars
        .chain(containers("containers"))
        .flat_map(|container| container["ports"].as_array().into_iter().flatten());
    ports.filter_map(|port| {
        let number = port["hostPort"].as_i64().filter(|number| *number > 0)?;
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        Some(HostPort { address: meta::member(port, "hostIP"), protocol, number })
    })
}

/// A resource of which the node has too little.
pub(super) struct Shortage {
    pub(super) name: String,
    pub(super) wanted: Quantity,
    pub(super) used: Quantity,
    pub(super) all: Quantity,
}

/// `NodeResourcesFit`.
fn insufficient(pod: &Value, others: &[&Value], node: &Value) -> Option<Misfit> {
    let shortages = shortages(pod, others, node);
    let reason = |shortage: &Shortage| match shortage.name.as_str() {
        "pods" => "Too many pods".to_owned(),
        name => format!("Insufficient {name}"),
    };
    let for_now = shortages.iter().all(|short| short.name == "pods" || short.wanted <= short.all);
    (!shortages.is_empty()).then(|| Misfit::Node(shortages.iter().map(reason).collect(), for_now))
}

/// `fitsRequest` of `NodeResourcesFit`.
pub(super) fn shortages(pod: &Value, others: &[&Value], node: &Value) -> Vec<Shortage> {
    let zero = Quantity::from(0);
    let allocatable = amounts::quantities(&node["status"]["allocatable"]);
    let amount = |of: &Quantities, name: &str| of.get(name).copied().unwrap_or(zero);
    let mut used = Quantities::new();
    others.iter().for_each(|other| amounts::add(&mut used, &amounts::total(other, "requests")));
    used.insert("pods".to_owned(), Quantity::from(i64::try_from(others.len()).unwrap_or(i64::MAX)));
    let wanted = amounts::total(pod, "requests").into_iter().filter(|(_, wanted)| *wanted > zero);
    let wanted = std::iter::once(("pods".to_owned(), Quantity::from(1))).chain(wanted);
    let short = |(name, wanted): (String, Quantity)| {
        let (used, all) = (amount(&used, &name), amount(&allocatable, &name));
        (wanted > all - used).then_some(Shortage { name, wanted, used, all })
    };
    wanted.filter_map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(requests: Value, ports: Value) -> Value {
        json!({"spec": {"containers": [{"resources": {"requests": requests}, "ports": ports}]}})
    }

    #[test]
    fn requests_of_all_pods_have_to_fit() {
        let room = json!({"cpu": "2", "memory": "1Gi", "pods": "2"});
        let node = json!({"status": {"allocatable": room}});
        let of = |requests: Value| pod(requests, json!([]));
        let one = of(json!({"cpu": "1500m"}));
        let reasons = |pod: &Value, others: &[&Value]| match insufficient(pod, others, &node) {
            Some(Misfit::Node(reasons, for_now)) => (reasons.join(","), for_now),
            _ => (String::new(), true),
        };
        assert_eq!(reasons(&one, &[]).0, "");
        assert_eq!(reasons(&of(json!({"cpu": "500m"})), &[&one]).0, "");
        assert_eq!(reasons(&one, &[&one]), ("Insufficient cpu".to_owned(), true));
        assert_eq!(reasons(&of(json!({})), &[&one, &one]), ("Too many pods".to_owned(), true));
        let much = of(json!({"cpu": "3", "memory": "2Gi", "nvidia.com/gpu": "1", "example.com/none": "0"}));
        let all = "Insufficient cpu,Insufficient memory,Insufficient nvidia.com/gpu";
        assert_eq!(reasons(&much, &[]), (all.to_owned(), false));
        // An init container that runs alone counts by its maximum.
        let init = json!([{"resources": {"requests": {"cpu": "3"}}}]);
        let pod = json!({"spec": {"containers": [{}], "initContainers": init}});
        assert_eq!(reasons(&pod, &[]), ("Insufficient cpu".to_owned(), false));
    }

    #[test]
    fn host_port_belongs_to_one_pod() {
        let with = |port: Value| pod(json!({}), json!([port]));
        let any = with(json!({"hostPort": 80, "protocol": "TCP"}));
        for (port, fits) in [
            (json!({"hostPort": 80, "protocol": "TCP"}), false),
            (json!({"hostPort": 80, "hostIP": "10.0.0.1", "protocol": "TCP"}), false),
            (json!({"hostPort": 80, "protocol": "UDP"}), true),
            (json!({"hostPort": 81, "protocol": "TCP"}), true),
            (json!({"containerPort": 80, "protocol": "TCP"}), true),
        ] {
            assert_eq!(ports_taken(&with(port.clone()), &[&any]).is_none(), fits, "{port}");
        }
        let at = |ip: &str| with(json!({"hostPort": 80, "hostIP": ip, "protocol": "TCP"}));
        assert!(ports_taken(&at("10.0.0.1"), &[&at("10.0.0.2")]).is_none());
    }

    #[test]
    fn message_has_the_scheduler_s_form() {
        let pod = json!({"spec": {}});
        let misfit =
            Misfit::Node(vec!["Insufficient memory".to_owned(), "Insufficient cpu".to_owned()], false);
        let start = "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.";
        assert_eq!(misfit.message(&pod, None), start);
        let text = format!("{start} no new claims to deallocate, preemption: x");
        assert_eq!(misfit.message(&pod, Some("x")), text);
        let with_claims = json!({"spec": {"resourceClaims": [{"name": "c"}]}});
        assert_eq!(
            misfit.message(&with_claims, Some("x")),
            format!("{start} still not schedulable, preemption: x")
        );
        let missing = Misfit::Claims("persistentvolumeclaim \"x\" not found".to_owned());
        let text = "0/1 nodes are available: persistentvolumeclaim \"x\" not found. not found";
        assert_eq!(missing.message(&pod, Some("x")), text);
    }
}
