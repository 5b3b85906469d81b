use kubesmith_runtime::webhook;

#[webhook(
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
#[webhook(
    path = "/y",
    url = "https://hooks.example.com/y",
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
#[webhook(
    url = "http://hooks.example.com/z?q",
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
#[webhook(
    url = "https://hooks.example.com/z",
    service_name = "hooks",
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
#[webhook(
    path = "validate//X",
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
