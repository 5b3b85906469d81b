use kubesmith_runtime::rbac;

#[rbac(groups = "apps", resources = "deployments", verbs = "get")]
pub struct Worker {
    #[rbac(groups = "field", resources = "fields", verbs = "get")]
    pub name: String,
}

pub enum Mode {
    #[rbac(groups = "variant", resources = "variants", verbs = "get")]
    Fast,
}

pub fn reconcile() {
    #[rbac(groups = "inside", resources = "insides", verbs = "get")]
    let _ = 1;
}
