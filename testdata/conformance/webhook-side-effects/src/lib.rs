//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    path = "/one",
    mutating = false,
    failure_policy = "FAIL",
    side_effects = "none",
    groups = "apps",
    resources = "deployments",
    verbs = "Create",
    versions = "v1",
    name = "one.conformance.dev",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/two",
    mutating = false,
    failure_policy = "Ignore",
    side_effects = "noneondryrun",
    groups = "apps",
    resources = "daemonsets",
    verbs = "UPDATE",
    versions = "v1",
    name = "two.conformance.dev",
    admission_review_versions = "v1",
    match_policy = "equivalent",
)]
pub fn serve() {}
