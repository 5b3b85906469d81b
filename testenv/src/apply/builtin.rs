//! Merge rules of built-in kinds, written as schemas that name only what is special: list maps, sets and atomic
//! structures. Everything else merges by its shape.
//!
//! Source: the `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and `x-kubernetes-map-type` extensions of the
//! OpenAPI documents of Kubernetes 1.36.

use kubesmith_apiextensions::structural::Structural;
use serde_json::{Value, json};

/// Tables are literals; one that could not be read would merge by shape alone, and a test reads them all.
pub(super) fn parse(schema: &Value) -> Structural {
    Structural::parse(schema).unwrap_or_default()
}

#[expect(clippy::needless_pass_by_value, reason = "every caller builds the value in place")]
fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": true})
}

fn atomic() -> Value {
    json!({"type": "object", "x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true})
}

fn set() -> Value {
    json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})
}

fn map(keys: &[&str], properties: Value) -> Value {
    json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": object(properties)})
}

fn text_map() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

fn conditions() -> Value {
    map(&["type"], json!({"type": {"type": "string"}}))
}

/// The rules of metadata.
pub(super) fn object_meta() -> Value {
    object(json!({
        "labels": text_map(),
        "annotations": text_map(),
        "finalizers": set(),
        "ownerReferences": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"],
                            "items": atomic()},
    }))
}

fn ports(keys: &[&str]) -> Value {
    map(keys, json!({"protocol": {"type": "string", "default": "TCP"}}))
}

fn container() -> Value {
    json!({
        "ports": ports(&["containerPort", "protocol"]),
        "env": map(&["name"], json!({"valueFrom": object(json!({"configMapKeyRef": atomic(), "secretKeyRef": atomic(),
                                                              "fieldRef": atomic(), "resourceFieldRef": atomic()}))})),
        "volumeMounts": map(&["mountPath"], json!({})),
        "volumeDevices": map(&["devicePath"], json!({})),
        "resizePolicy": {"type": "array", "x-kubernetes-list-type": "atomic"},
        "resources": object(json!({"claims": map(&["name"], json!({}))})),
    })
}

fn pod_spec() -> Value {
    object(json!({
        "containers": map(&["name"], container()),
        "initContainers": map(&["name"], container()),
        "ephemeralContainers": map(&["name"], container()),
        "volumes": map(&["name"], json!({"projected": object(json!({})), "secret": object(json!({}))})),
        "imagePullSecrets": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"name": {"type": "string", "default": ""}},
                      "x-kubernetes-preserve-unknown-fields": true}},
        "hostAliases": map(&["ip"], json!({})),
        "topologySpreadConstraints": map(&["topologyKey", "whenUnsatisfiable"], json!({"labelSelector": atomic()})),
        "schedulingGates": map(&["name"], json!({})),
        "resourceClaims": map(&["name"], json!({})),
        "nodeSelector": atomic(),
    }))
}

fn pod_template() -> Value {
    object(json!({"metadata": object_meta(), "spec": pod_spec()}))
}

fn workload(status: Value) -> Value {
    object(
        json!({"spec": object(json!({"selector": atomic(), "template": pod_template()})), "status": object(status)}),
    )
}

fn webhooks() -> Value {
    object(
        json!({"webhooks": map(&["name"], json!({"namespaceSelector": atomic(), "objectSelector": atomic(),
                                                  "matchConditions": map(&["name"], json!({}))}))}),
    )
}

fn role_binding() -> Value {
    object(json!({"roleRef": atomic()}))
}

/// The merge rules of a built-in kind.
pub(super) fn schema(group: &str, kind: &str) -> Value {
    match (group, kind) {
        ("", "Pod") => object(json!({"spec": pod_spec(), "status": object(json!({"conditions": conditions(),
            "podIPs": map(&["ip"], json!({})), "hostIPs": {"type": "array", "x-kubernetes-list-type": "atomic"}}))})),
        ("", "Service") => object(json!({
            "spec": object(json!({"ports": ports(&["port", "protocol"]), "selector": atomic()})),
            "status": object(json!({"conditions": conditions()})),
        })),
        ("", "Namespace") => object(json!({"status": object(json!({"conditions": conditions()}))})),
        ("", "Node") => object(json!({
            "spec": object(json!({"podCIDRs": set()})),
            "status": object(json!({"conditions": conditions(), "addresses": map(&["type"], json!({}))})),
        })),
        ("", "ServiceAccount") => object(json!({"secrets": map(&["name"], json!({}))})),
        ("", "Event") => object(json!({"involvedObject": atomic(), "related": atomic()})),
        ("events.k8s.io", "Event") => object(json!({"regarding": atomic(), "related": atomic()})),
        ("", "PersistentVolumeClaim") => object(json!({
            "spec": object(json!({"selector": atomic(), "dataSource": atomic()})),
            "status": object(json!({"conditions": conditions()})),
        })),
        ("", "Endpoints") => object(json!({})),
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") => {
            workload(json!({"conditions": conditions()}))
        }
        ("batch", "Job") => workload(json!({})),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => role_binding(),
        ("admissionregistration.k8s.io", _) => webhooks(),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            object(json!({"status": object(json!({"conditions": conditions()}))}))
        }
        _ => object(json!({})),
    }
}

/// What an object of a built-in kind has before anything is set: inner structures that Go cannot leave out, so that
/// nobody owns their being there.
pub(super) fn blank(group: &str, kind: &str) -> Value {
    let pod_template = || json!({"metadata": {}, "spec": {"containers": null}});
    match (group, kind) {
        ("", "Pod") => json!({"spec": {"containers": null}, "status": {}}),
        ("", "Service") => json!({"spec": {}, "status": {"loadBalancer": {}}}),
        ("", "Namespace" | "Node" | "PersistentVolumeClaim") => json!({"spec": {}, "status": {}}),
        ("", "Event") => {
            json!({"involvedObject": {}, "source": {}, "firstTimestamp": null, "lastTimestamp": null,
            "eventTime": null, "reportingComponent": "", "reportingInstance": ""})
        }
        ("events.k8s.io", "Event") => json!({"eventTime": null, "regarding": {}, "deprecatedSource": {},
            "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null}),
        ("apps", "Deployment") => {
            json!({"spec": {"selector": null, "template": pod_template(), "strategy": {}}, "status": {}})
        }
        ("apps", "ReplicaSet") => {
            json!({"spec": {"selector": null, "template": pod_template()}, "status": {"replicas": 0}})
        }
        ("apps", "StatefulSet") => {
            json!({"spec": {"selector": null, "template": pod_template(), "serviceName": "",
            "updateStrategy": {}}, "status": {"replicas": 0}})
        }
        ("apps", "DaemonSet") => {
            json!({"spec": {"selector": null, "template": pod_template(), "updateStrategy": {}}, "status": {}})
        }
        ("batch", "Job") => json!({"spec": {"template": pod_template()}, "status": {}}),
        ("coordination.k8s.io", "Lease") => json!({"spec": {}}),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => json!({"rules": null}),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            json!({"roleRef": {"apiGroup": "", "kind": "", "name": ""}})
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => json!({
            "spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": null},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null}}),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read() {
        for (group, kind) in [
            ("", "Pod"),
            ("", "Service"),
            ("", "Namespace"),
            ("", "Node"),
            ("", "ServiceAccount"),
            ("", "Event"),
            ("events.k8s.io", "Event"),
            ("", "PersistentVolumeClaim"),
            ("apps", "Deployment"),
            ("batch", "Job"),
            ("rbac.authorization.k8s.io", "RoleBinding"),
            ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
            ("", "ConfigMap"),
        ] {
            assert!(Structural::parse(&schema(group, kind)).is_ok(), "{group} {kind}");
        }
        assert!(Structural::parse(&object_meta()).is_ok());
    }
}
