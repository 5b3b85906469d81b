//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(groups = "apps", resources = "deployments", verbs = "get")]
pub fn reconcile() {}
