//! Kinds other than workloads.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::{Stage, each, fill};
use crate::meta::map_at;

pub(in crate::builtin) fn namespace(object: &mut Value, _: Stage) {
    let name = crate::meta::name(object).to_owned();
    let labels = map_at(&mut object["metadata"], "labels");
    labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    map_at(object, "spec");
    map_at(object, "status");
    fill(&mut object["status"], "phase", "Active");
}

/// Adds the finalizer that keeps a namespace until its content is deleted.
pub(in crate::builtin) fn hold_namespace(object: &mut Value) {
    fill(&mut object["spec"], "finalizers", json!([]));
    let finalizers = object["spec"]["finalizers"].as_array_mut();
    if let Some(finalizers) = finalizers.filter(|list| !list.iter().any(|name| name == "kubernetes")) {
        finalizers.push("kubernetes".into());
    }
}

pub(in crate::builtin) fn service(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "type", "ClusterIP");
    fill(spec, "sessionAffinity", "None");
    if spec["sessionAffinity"] == "None" {
        crate::meta::object_mut(spec).remove("sessionAffinityConfig");
    } else if spec["sessionAffinity"] == "ClientIP"
        && spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].is_null()
    {
        spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": 10_800}});
    }
    each(spec, "ports", |port| {
        let number = port["port"].clone();
        if port["targetPort"].is_null() || port["targetPort"] == 0 || port["targetPort"] == "" {
            port["targetPort"] = number;
        }
    });
    if spec["type"] != "ExternalName" {
        fill(spec, "internalTrafficPolicy", "Cluster");
    }
    // `ExternallyAccessible`.
    let has_addresses = spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty());
    let is_reached = spec["type"] == "NodePort" || spec["type"] == "LoadBalancer";
    if is_reached || spec["type"] == "ClusterIP" && has_addresses {
        fill(spec, "externalTrafficPolicy", "Cluster");
    }
    if spec["type"] == "LoadBalancer" {
        fill(spec, "allocateLoadBalancerNodePorts", true);
        if let Some(balancer) = object["status"].get_mut("loadBalancer") {
            each(balancer, "ingress", |ingress| {
                if ingress["ip"].as_str().is_some_and(|ip| !ip.is_empty()) {
                    fill(ingress, "ipMode", "VIP");
                }
            });
        }
    }
}

pub(in crate::builtin) fn endpoints(object: &mut Value, _: Stage) {
    each(object, "subsets", |subset| each(subset, "ports", |port| fill(port, "protocol", "TCP")));
}

pub(in crate::builtin) fn endpoint_slice(object: &mut Value, _: Stage) {
    each(object, "ports", |port| {
        fill(port, "name", "");
        fill(port, "protocol", "TCP");
    });
}

pub(in crate::builtin) fn network_policy(object: &mut Value, _: Stage) {
    for list in ["ingress", "egress"] {
        each(&mut object["spec"], list, |rule| each(rule, "ports", |port| fill(port, "protocol", "TCP")));
    }
    if object["spec"]["policyTypes"].is_null() {
        let egress = object["spec"]["egress"].as_array().is_some_and(|rules| !rules.is_empty());
        let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        fill(&mut object["spec"], "policyTypes", types);
    }
}

pub(in crate::builtin) fn secret(object: &mut Value, _: Stage) {
    let plain = object.as_object_mut().and_then(|o| o.remove("stringData"));
    if let Some(Value::Object(plain)) = plain {
        let data = map_at(object, "data");
        for (key, value) in plain {
            let text = value.as_str().unwrap_or_default();
            data.insert(key, Value::from(BASE64.encode(text)));
        }
    }
    fill(object, "type", "Opaque");
}

/// Derives a container's defaults from its limits.
pub(in crate::builtin) fn limit_range(object: &mut Value, _: Stage) {
    each(&mut object["spec"], "limits", |limit| {
        if limit["type"] != "Container" {
            return;
        }
        inherit(limit, "default", "max");
        inherit(limit, "defaultRequest", "default");
        inherit(limit, "defaultRequest", "min");
    });
}

fn inherit(object: &mut Value, to: &str, from: &str) {
    let amounts: Map<String, Value> = object[from].as_object().cloned().unwrap_or_default();
    if amounts.is_empty() {
        return;
    }
    let target = map_at(object, to);
    for (name, amount) in amounts {
        target.entry(name).or_insert(amount);
    }
}

pub(in crate::builtin) fn volume_object(object: &mut Value, _: Stage) {
    fill(&mut object["spec"], "persistentVolumeReclaimPolicy", "Retain");
    fill(&mut object["spec"], "volumeMode", "Filesystem");
    if let Some(path) = object["spec"].get_mut("hostPath").filter(|v| v.is_object()) {
        fill(path, "type", "");
    }
    fill(&mut object["status"], "phase", "Pending");
}

pub(in crate::builtin) fn claim(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    fill(&mut object["spec"], "volumeMode", "Filesystem");
    map_at(object, "status");
    fill(&mut object["status"], "phase", "Pending");
}

pub(in crate::builtin) fn storage_class(object: &mut Value, _: Stage) {
    fill(object, "reclaimPolicy", "Delete");
    fill(object, "volumeBindingMode", "Immediate");
}

pub(in crate::builtin) fn csi_driver(object: &mut Value, _: Stage) {
    let spec = &mut object["spec"];
    fill(spec, "attachRequired", true);
    fill(spec, "podInfoOnMount", false);
    fill(spec, "storageCapacity", false);
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    fill(spec, "volumeLifecycleModes", json!(["Persistent"]));
    fill(spec, "requiresRepublish", false);
    fill(spec, "seLinuxMount", false);
}

/// The ranges of a node's pods: pkg/apis/core/v1/conversion.go. The old field takes precedence.
pub(in crate::builtin) fn node(object: &mut Value, _: Stage) {
    // `SetDefaults_NodeStatus` of pkg/apis/core/v1/defaults.go.
    let capacity = object["status"]["capacity"].clone();
    if !capacity.is_null() {
        fill(&mut object["status"], "allocatable", capacity);
    }
    let Some(spec) = object.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (old, first) = (text(&spec["podCIDR"]), text(&spec["podCIDRs"][0]));
    if !old.is_empty() && old != first {
        spec["podCIDRs"] = json!([old]);
    } else if !first.is_empty() {
        spec["podCIDR"] = first.into();
    }
    // Kubernetes removed the feature.
    crate::meta::object_mut(spec).remove("configSource");
}

pub(in crate::builtin) fn ingress_class(object: &mut Value, _: Stage) {
    if let Some(parameters) = object.pointer_mut("/spec/parameters") {
        fill(parameters, "scope", "Cluster");
    }
}

pub(in crate::builtin) fn resource_claim(object: &mut Value, _: Stage) {
    device_requests(object.pointer_mut("/spec/devices"));
}

pub(in crate::builtin) fn resource_claim_template(object: &mut Value, _: Stage) {
    device_requests(object.pointer_mut("/spec/spec/devices"));
}

fn device_requests(devices: Option<&mut Value>) {
    let Some(devices) = devices else { return };
    let count = |request: &mut Value| {
        if request.get("allocationMode").is_some_and(|mode| mode == "") {
            request["allocationMode"] = Value::Null;
        }
        fill(request, "allocationMode", "ExactCount");
        if request["allocationMode"] == "ExactCount" {
            fill_zero(request, "count", 1);
        }
    };
    each(devices, "requests", |request| {
        if let Some(exactly) = request.get_mut("exactly").filter(|exactly| exactly.is_object()) {
            count(exactly);
        }
        each(request, "firstAvailable", count);
    });
}

pub(in crate::builtin) fn api_service(object: &mut Value, _: Stage) {
    if let Some(service) = object.pointer_mut("/spec/service") {
        fill(service, "port", 443);
    }
}

pub(in crate::builtin) fn flow_schema(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    fill_zero(&mut object["spec"], "matchingPrecedence", 1000);
}

pub(in crate::builtin) fn priority_level(object: &mut Value, _: Stage) {
    let Some(spec) = object.get_mut("spec").filter(|spec| spec.is_object()) else { return };
    for (level, shares) in [("exempt", 0), ("limited", 30)] {
        if let Some(level) = spec.get_mut(level) {
            fill(level, "nominalConcurrencyShares", shares);
            fill(level, "lendablePercent", 0);
        }
    }
    if let Some(queuing) = spec.pointer_mut("/limited/limitResponse/queuing") {
        fill_zero(queuing, "handSize", 8);
        fill_zero(queuing, "queues", 64);
        fill_zero(queuing, "queueLengthLimit", 50);
    }
}

/// Sets a number that is absent or zero.
fn fill_zero(object: &mut Value, key: &str, value: i64) {
    if object.get(key).is_some_and(|it| *it == 0) {
        crate::meta::object_mut(object).remove(key);
    }
    fill(object, key, value);
}

pub(in crate::builtin) fn priority_class(object: &mut Value, _: Stage) {
    fill(object, "preemptionPolicy", "PreemptLowerPriority");
}

pub(in crate::builtin) fn role(object: &mut Value, _: Stage) {
    fill(object, "rules", Value::Null);
}

pub(in crate::builtin) fn role_binding(object: &mut Value, _: Stage) {
    let group = "rbac.authorization.k8s.io";
    map_at(object, "roleRef");
    if object["roleRef"]["apiGroup"] == "" {
        object["roleRef"]["apiGroup"] = group.into();
    }
    fill(&mut object["roleRef"], "apiGroup", group);
    each(object, "subjects", |subject| {
        let users = subject["kind"] == "User" || subject["kind"] == "Group";
        if users {
            fill(subject, "apiGroup", group);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_string_data_moves_into_data() {
        let mut secret_value = json!({"data": {"a": "YQ=="}, "stringData": {"k": "v"}});
        secret(&mut secret_value, Stage::Create);
        assert_eq!(secret_value, json!({"data": {"a": "YQ==", "k": "dg=="}, "type": "Opaque"}));
    }

    #[test]
    fn network_policy_types_follow_its_rules() {
        let types = |spec: Value| {
            let mut policy = json!({"spec": spec});
            network_policy(&mut policy, Stage::Create);
            policy["spec"]["policyTypes"].clone()
        };
        assert_eq!(types(json!({})), json!(["Ingress"]));
        assert_eq!(types(json!({"egress": [{}]})), json!(["Ingress", "Egress"]));
        assert_eq!(types(json!({"policyTypes": ["Egress"]})), json!(["Egress"]));
    }

    #[test]
    fn limit_range_derives_container_defaults_from_limits() {
        let mut range = json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}]}});
        limit_range(&mut range, Stage::Create);
        assert_eq!(
            range["spec"]["limits"][0],
            json!({"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}, "default": {"cpu": "2"},
                   "defaultRequest": {"cpu": "2", "memory": "1Mi"}})
        );
    }
}
