//! Selects the nodes of a daemon set, and builds the pod for a node.
//!
//! Source: `nodeShouldRunDaemonPod` and `pkg/controller/daemon/util/daemonset_util.go`.

use serde_json::{Value, json};

use super::super::cluster::DAEMON_SETS;
use super::super::placement::{self, DRIVES_OUT, KEEPS_OFF};
use super::super::pods::from_template;
use super::{HASH, Sync};
use crate::builtin::TEMPLATE_GENERATION;
use crate::meta::{self, map_at};

/// The taints that the pods of all daemon sets tolerate, with their effects.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
/// A further toleration of pods in the node's network.
const WITHOUT_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Reports whether a pod is on a node, or targets it.
pub(super) fn is_for(pod: &Value, node: &Value) -> bool {
    let name = meta::name(node);
    match pod["spec"]["nodeName"].as_str() {
        Some(own) if !own.is_empty() => own == name,
        _ => pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"][0]["matchFields"][0]["values"][0]
            .as_str()
            .is_some_and(|own| own == name),
    }
}

impl Sync<'_> {
    /// Reports whether a node should have a pod.
    pub(super) fn fits(&self, node: &Value) -> bool {
        self.fits_but_for(node, KEEPS_OFF)
    }

    /// Reports whether a pod may stay on a node.
    pub(super) fn keeps(&self, node: &Value) -> bool {
        self.fits_but_for(node, DRIVES_OUT)
    }

    fn fits_but_for(&self, node: &Value, effects: &[&str]) -> bool {
        let mut spec = self.set["spec"]["template"]["spec"].clone();
        tolerate(&mut spec);
        let named = spec["nodeName"].as_str().filter(|name| !name.is_empty());
        named.is_none_or(|name| name == meta::name(node))
            && placement::selects(&spec, node)
            && placement::is_tolerated(&spec, node, effects)
    }

    /// Builds the pod for a node. The scheduler binds it there, by its affinity.
    pub(super) fn described(&self, node: &Value) -> Value {
        let mut pod = from_template(self.set, DAEMON_SETS, &self.set["spec"]["template"]);
        let labels = map_at(&mut pod["metadata"], "labels");
        labels.insert(HASH.to_owned(), self.hash.into());
        let generation = &self.set["metadata"]["annotations"][TEMPLATE_GENERATION];
        if let Some(generation) = generation.as_str() {
            labels.insert("pod-template-generation".to_owned(), generation.into());
        }
        tolerate(&mut pod["spec"]);
        let field = json!({"key": "metadata.name", "operator": "In", "values": [meta::name(node)]});
        let required = json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
        let affinity = map_at(map_at_value(&mut pod["spec"], "affinity"), "nodeAffinity");
        affinity.insert("requiredDuringSchedulingIgnoredDuringExecution".to_owned(), required);
        pod
    }
}

/// The object under a field, created when absent.
fn map_at_value<'a>(object: &'a mut Value, field: &str) -> &'a mut Value {
    map_at(object, field);
    &mut object[field]
}

/// Adds the tolerations of daemon sets' pods (`AddOrUpdateDaemonPodTolerations`).
fn tolerate(spec: &mut Value) {
    let of_network = (spec["hostNetwork"] == true).then_some(WITHOUT_NETWORK);
    let mut all = spec["tolerations"].as_array().cloned().unwrap_or_default();
    for (key, effect) in TOLERATED.into_iter().chain(of_network) {
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        all.retain(|own| *own != toleration);
        all.push(toleration);
    }
    spec["tolerations"] = all.into();
}
