use kubesmith_runtime::rbac;

pub struct Reconciler;

#[rbac(resources = "nodes", verbs = "get")]
#[rbac(groups = "apps", verbs = "list")]
#[rbac(verbs = "watch")]
#[rbac(groups = "apps", resources = "deployments", urls = "/metrics", verbs = "get")]
#[rbac(urls = "/metrics", verbs = "get", namespace = "infra")]
impl Reconciler {
    #[rbac(groups = "", resources = "secrets", verbs = "get", namespace = "Infra")]
    #[rbac(groups = "", resources = "pods;", verbs = "get", role_name = "pods/reader")]
    pub fn reconcile(&self) {}
}
