use kubesmith_runtime::{rbac, webhook, webhook_configuration};

#[rbac(groups = "apps", resource = "deployments", verbs = "get")]
#[rbac(resources = "nodes", verbs = "get")]
struct Reconciler;

#[webhook(
    mutating = false, name = "widgets", path = "/validate", groups = "example.com", versions = "v1",
    resources = "widgets", verbs = "creat", failure_policy = "Fail", side_effects = "Some",
    admission_review_versions = "v1", timeout_seconds = 31
)]
fn validate() {}

#[webhook_configuration(mutating = 1)]
fn main() {}
