use kubesmith_runtime::webhook;

#[webhook(
    path = "/x",
    timeout_seconds = 31,
    service_port = 70000,
    mutating = true,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.example.com",
    admission_review_versions = "v1",
)]
pub fn serve() {}
