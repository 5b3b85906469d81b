//! The objects that kube-apiserver adds to every cluster, except those that depend on its address.
//!
//! `initial.jsonl` has one on each line, in the order in which kube-apiserver creates them. The common parts of all
//! roles and bindings (plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go) are added here.

use serde_json::{Value, json};

use crate::meta;

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Returns the object of this kind and name, if every cluster has it.
pub(super) fn find(kind: &str, name: &str) -> Option<Value> {
    lines().find(|object| object["kind"] == kind && meta::name(object) == name)
}

/// Returns the objects, without UID, times and owners of fields.
pub(crate) fn lines() -> impl Iterator<Item = Value> {
    include_str!("initial.jsonl").lines().map(|line| {
        let mut object: Value = serde_json::from_str(line).unwrap_or_default();
        if object.get("apiVersion").is_none() {
            object["apiVersion"] = RBAC.into();
            object["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults".into();
            object["metadata"]["annotations"] =
                json!({"rbac.authorization.kubernetes.io/autoupdate": "true"});
        }
        object
    })
}
