use kubesmith_runtime::{webhook, webhook_configuration};

#[webhook_configuration(mutating = true, name = "first")]
#[webhook(
    path = "/x",
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
pub fn first() {}

#[webhook_configuration(mutating = true, name = "second")]
#[webhook_configuration(mutating = false, name = "validators")]
#[webhook(
    path = "/y",
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
pub fn second() {}
