use kubesmith_runtime::webhook;

#[webhook(
    path = "/a",
    patch = {"namespaceSelektor": {}},
    mutating = true,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "a.example.com",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/b",
    patch = {"timeoutSeconds": "seven"},
    mutating = true,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "b.example.com",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/c",
    patch = {"rules": [{"$patch": "replace"}]},
    mutating = true,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "c.example.com",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/d",
    patch = "[1]",
    mutating = true,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "d.example.com",
    admission_review_versions = "v1",
)]
pub fn serve() {}
