//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    path = "/validate-demo-conformance-dev-v1-widget",
    mutating = false,
    failure_policy = "fail",
    side_effects = "None",
    groups = "demo.conformance.dev",
    resources = "widgets",
    verbs("create", "update"),
    versions = "v1",
    name = "vwidget.conformance.dev",
    admission_review_versions = "v1",
)]
pub fn serve() {}
