use kubesmith_runtime::rbac;

#[rbac(groups = "above", resources = "aboves", verbs = "get")]
pub struct Worker;

impl Worker {
    #[kubesmith_runtime::rbac(groups = "last", resources = "lasts", verbs = "get")]
    pub fn reconcile(&self) {}
}

#[cfg(test)]
mod tests {
    #[kubesmith_runtime::rbac(groups = "tests", resources = "tests", verbs = "get")]
    fn reconcile() {}
}
