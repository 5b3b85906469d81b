use kubesmith_runtime::webhook;

#[webhook(
    path = "/x",
    mutating = false,
    failure_policy = "Retry",
    side_effects = "None",
    groups("*", "apps"),
    resources = "*/*;deployments",
    verbs("create", "*", "read"),
    versions = "v1",
    name = "x",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/x",
    reinvocation_policy = "IfNeeded",
    mutating = false,
    failure_policy = "Fail",
    side_effects = "None",
    groups("*", "apps"),
    resources = "*/*;deployments",
    verbs("create", "*", "read"),
    versions = "v1",
    name = "x",
    admission_review_versions = "v1",
)]
pub fn serve() {}
