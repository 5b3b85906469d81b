use kubesmith_runtime::webhook;

#[webhook(
    path = "/x",
    patch = {"sideEffects": "Some", "timeoutSeconds": 90, "reinvocationPolicy": "Sometimes"},
    mutating = false,
    failure_policy = "Fail",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.example.com",
    admission_review_versions = "v1",
)]
pub fn serve() {}
