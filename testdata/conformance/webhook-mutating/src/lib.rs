//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    path = "/mutate-v1-pod",
    mutating = true,
    failure_policy = "ignore",
    side_effects = "None",
    groups = "",
    resources = "pods",
    verbs = "create",
    versions = "v1",
    name = "mpod.conformance.dev",
    admission_review_versions("v1", "v1beta1"),
    reinvocation_policy = "IfNeeded",
    match_policy = "Exact",
)]
pub fn serve() {}
