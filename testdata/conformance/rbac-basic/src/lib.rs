//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(
    groups = "apps",
    resources = "deployments",
    verbs("get", "list", "watch", "create", "update", "patch", "delete"),
)]
#[rbac(groups = "apps", resources = "deployments/status", verbs = "get")]
#[rbac(
    groups = "demo.conformance.dev",
    resources("widgets", "widgets/status", "widgets/finalizers"),
    verbs("update", "get"),
)]
pub fn reconcile() {}
