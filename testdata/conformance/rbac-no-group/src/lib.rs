//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(resources = "nodes", verbs = "get")]
#[rbac(groups = "apps", verbs = "list")]
pub fn reconcile() {}
