//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    url = "https://hooks.conformance.dev:9443/check",
    mutating = false,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "delete",
    versions = "v1",
    name = "remote.conformance.dev",
    admission_review_versions = "v1",
)]
pub fn serve() {}
