//! Resource quotas: what an object uses, and which quotas count it. Source: `pkg/quota/v1/evaluator/core` and
//! `staging/src/k8s.io/apiserver/pkg/quota/v1`.
//!
//! The admission plugin `ResourceQuota` and the controller of quotas ask the same functions.

mod pods;
mod scopes;

use jiff::Timestamp;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use crate::amounts::{Quantities, add, quantities};
use crate::builtin;
use crate::registry::ResourceDef;

pub(crate) use pods::{has_deadline, missing_amounts};
pub(crate) use scopes::is_in_scope;

const CLAIMS: &str = "persistentvolumeclaims";
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Reports whether quotas ignore the resource (`ignoredResources` of pkg/quota/v1/install/registry.go).
pub(crate) fn is_ignored(def: &ResourceDef) -> bool {
    def.is_review()
        || matches!(def.plural.as_str(), "events" if !def.is_custom())
        || def.collection == "bindings"
}

/// The resource that counts objects: `count/deployments.apps`.
fn count_of(def: &ResourceDef) -> String {
    let dot = if def.group.is_empty() { "" } else { "." };
    format!("count/{}{dot}{}", def.plural, def.group)
}

/// The older name of a count (`legacyObjectCountAliases`).
fn alias(def: &ResourceDef) -> Option<&'static str> {
    ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]
        .into_iter()
        .find(|alias| *alias == def.collection)
}

/// Reports whether objects of a kind use a resource (`MatchingResources`).
pub(crate) fn uses(def: &ResourceDef, resource: &str) -> bool {
    if resource == count_of(def) {
        return true;
    }
    match def.collection.as_str() {
        "pods" => pods::uses(resource),
        "services" => matches!(resource, "services" | "services.nodeports" | "services.loadbalancers"),
        CLAIMS => {
            let own = resource.split_once(OF_CLASS).map_or(resource, |(_, own)| own);
            matches!(own, CLAIMS | "requests.storage")
        }
        _ => alias(def) == Some(resource),
    }
}

/// Returns the usage of an object (`Usage`).
pub(crate) fn usage(def: &ResourceDef, object: &Value, now: Timestamp) -> Quantities {
    let one = Quantity::from(1);
    let mut usage = Quantities::from([(count_of(def), one)]);
    match def.collection.as_str() {
        "pods" => add(&mut usage, &pods::usage(object, now)),
        "services" => usage.extend(of_service(&object["spec"])),
        CLAIMS => usage.extend(of_claim(object)),
        _ => usage.extend(alias(def).map(|alias| (alias.to_owned(), one))),
    }
    usage
}

fn of_service(spec: &Value) -> Quantities {
    let ports: Vec<&Value> = spec["ports"].as_array().into_iter().flatten().collect();
    let is_balanced = spec["type"] == "LoadBalancer";
    let node_ports =
        if spec["type"] == "NodePort" || is_balanced && spec["allocateLoadBalancerNodePorts"] != false {
            ports.len()
        } else if is_balanced {
            ports.iter().filter(|port| port["nodePort"].as_i64().is_some_and(|port| port != 0)).count()
        } else {
            0
        };
    Quantities::from([
        ("services".to_owned(), Quantity::from(1)),
        ("services.loadbalancers".to_owned(), Quantity::from(i64::from(is_balanced))),
        ("services.nodeports".to_owned(), Quantity::from(i64::try_from(node_ports).unwrap_or(i64::MAX))),
    ])
}

fn of_claim(claim: &Value) -> Quantities {
    let mut usage = Quantities::from([(CLAIMS.to_owned(), Quantity::from(1))]);
    let storage = |amounts: &Value| quantities(amounts).remove("storage");
    let requested = storage(&claim["spec"]["resources"]["requests"]);
    let allocated = storage(&claim["status"]["allocatedResources"]);
    let requested = requested.map(|requested| allocated.map_or(requested, |it| it.max(requested)));
    usage.extend(requested.map(|requested| ("requests.storage".to_owned(), requested)));
    let annotation = &claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
    let class = annotation.as_str().or_else(|| claim["spec"]["storageClassName"].as_str());
    if let Some(class) = class.filter(|class| !class.is_empty()) {
        let of_class: Quantities =
            usage.iter().map(|(name, amount)| (format!("{class}{OF_CLASS}{name}"), *amount)).collect();
        usage.extend(of_class);
    }
    usage
}

/// Reports whether a quota limits an extended resource by this name (`isExtendedResourceNameForQuota`).
fn is_extended_in_quota(name: &str) -> bool {
    name.strip_prefix("requests.").is_some_and(builtin::is_extended)
        || name.starts_with("requests.deviceclass.resource.kubernetes.io/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(usage: &Quantities) -> String {
        usage.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
    }

    /// Cases of `TestServiceEvaluatorUsage` in evaluator/core/services_test.go.
    #[test]
    fn service_uses_node_ports_by_its_type() {
        let two = json!([{"port": 1}, {"port": 2, "nodePort": 30_000}]);
        for (spec, expected) in [
            (
                json!({"type": "ClusterIP", "ports": two}),
                "services=1,services.loadbalancers=0,services.nodeports=0",
            ),
            (
                json!({"type": "NodePort", "ports": two}),
                "services=1,services.loadbalancers=0,services.nodeports=2",
            ),
            (
                json!({"type": "LoadBalancer", "ports": two}),
                "services=1,services.loadbalancers=1,services.nodeports=2",
            ),
            (
                json!({"type": "LoadBalancer", "ports": two, "allocateLoadBalancerNodePorts": false}),
                "services=1,services.loadbalancers=1,services.nodeports=1",
            ),
        ] {
            assert_eq!(shown(&of_service(&spec)), expected, "{spec}");
        }
    }

    /// Cases of `TestPersistentVolumeClaimEvaluatorUsage` in evaluator/core/persistent_volume_claims_test.go.
    #[test]
    fn claim_uses_storage_of_its_class() {
        let requests = json!({"requests": {"storage": "10Gi"}});
        let claim = json!({"spec": {"resources": requests}});
        assert_eq!(shown(&of_claim(&claim)), "persistentvolumeclaims=1,requests.storage=10Gi");
        let claim = json!({"spec": {"resources": requests, "storageClassName": "gold"},
            "status": {"allocatedResources": {"storage": "20Gi"}}});
        assert_eq!(
            shown(&of_claim(&claim)),
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
             gold.storageclass.storage.k8s.io/requests.storage=20Gi,persistentvolumeclaims=1,requests.storage=20Gi"
        );
    }
}
