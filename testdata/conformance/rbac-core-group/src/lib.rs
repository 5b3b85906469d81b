//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(groups = "", resources("pods", "services"), verbs("get", "list"))]
#[rbac(groups = "core", resources = "secrets", verbs("get", "list"))]
#[rbac(groups("core", "events.k8s.io"), resources = "events", verbs("create", "patch"))]
#[rbac(groups("", "apps"), resources = "replicasets", verbs = "get")]
pub fn reconcile() {}
