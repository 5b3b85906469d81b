//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(groups = "apps", resources = "deployments")]
#[rbac(groups = "apps", resource = "deployments", verbs = "get")]
pub fn reconcile() {}
