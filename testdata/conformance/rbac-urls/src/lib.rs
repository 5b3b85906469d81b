//! Twin of the Go package of the case.

use kubesmith_runtime::rbac;

#[rbac(urls("/metrics", "/healthz"), verbs = "get")]
#[rbac(urls = "/debug/*", verbs("get", "post"))]
#[rbac(urls = "/livez", verbs = "get")]
#[rbac(groups = "apps", resources = "deployments", verbs = "get")]
pub fn reconcile() {}
