use kubesmith_runtime::rbac;

#[rbac(groups = "apps", resources = "deployments")]
#[rbac(groups = "apps", resource = "deployments", verbs = "get")]
#[rbac]
#[rbac(verbs = get)]
pub fn reconcile() {}
