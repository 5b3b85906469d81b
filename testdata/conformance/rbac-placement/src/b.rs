pub fn run() {
    #[kubesmith_runtime::rbac(groups = "tight", resources = "tights", verbs = "get")]
    fn inner() {}
    inner();
}
