//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(groups = "apps", resources = "deployments", verbs = "get", role_name = "reader")]
#[rbac(groups = "apps", resources = "deployments", verbs = "update", role_name = "writer")]
#[rbac(groups = "", namespace = "infra", resources = "secrets", verbs = "get", role_name = "infra-secrets")]
#[rbac(groups = "", namespace = "infra", resources = "pods", verbs = "get")]
#[rbac(groups = "", resources = "pods", verbs = "get")]
pub fn reconcile() {}
