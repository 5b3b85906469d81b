//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    path = "/x",
    webhook_versions = "v1beta1",
    mutating = false,
    failure_policy = "fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "x.conformance.dev",
    admission_review_versions = "v1",
)]
pub fn serve() {}
