//! Twin of the Go package of the case.

use kubesmith_runtime::{webhook, webhook_configuration};

#[webhook_configuration(mutating = true, name = "fleet-mutators")]
#[webhook_configuration(mutating = false, name = "fleet-validators")]
#[webhook(
    path = "/m",
    mutating = true,
    failure_policy = "fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "m.fleet.conformance.dev",
    admission_review_versions = "v1",
)]
#[webhook(
    path = "/v",
    mutating = false,
    failure_policy = "fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "v.fleet.conformance.dev",
    admission_review_versions = "v1",
)]
pub fn serve() {}
