use kubesmith_runtime::webhook;

#[webhook(
    path = "/x",
    webhook_versions = "v1beta1",
    mutating = true,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.example.com",
    admission_review_versions = "v2",
)]
pub fn serve() {}
