//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(groups = "apps", resources = "deployments", verbs("get", "list"))]
#[rbac(groups = "apps", resources = "deployments", verbs = "*")]
#[rbac(groups = "apps", resources = "replicasets", verbs = "*")]
#[rbac(groups = "*", resources = "*", verbs = "get")]
#[rbac(groups = "*", resources = "*/scale", verbs = "update")]
pub fn reconcile() {}
