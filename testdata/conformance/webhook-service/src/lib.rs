//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    path = "/svc",
    service_name = "hook-svc",
    service_namespace = "hooks",
    service_port = 8443,
    mutating = false,
    failure_policy = "fail",
    side_effects = "None",
    groups = "apps",
    resources = "deployments",
    verbs = "create",
    versions = "v1",
    name = "svc.conformance.dev",
    admission_review_versions = "v1",
    webhook_versions = "v1",
)]
pub fn serve() {}
