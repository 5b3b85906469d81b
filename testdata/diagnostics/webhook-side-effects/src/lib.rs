use kubesmith_runtime::webhook;

#[webhook(
    path = "/x",
    mutating = true,
    failure_policy = "Fail",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.example.com",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/x",
    mutating = false,
    failure_policy = "Fail",
    side_effects = "Some",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.example.com",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/x",
    mutating = true,
    failure_policy = "Fail",
    side_effects = "Nothing",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.example.com",
    admission_review_versions = "v1",
)]
pub fn serve() {}
