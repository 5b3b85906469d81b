//! Twin of the Go package of the case.

use kubesmith_runtime::webhook;

#[webhook(
    path = "/p",
    mutating = true,
    failure_policy = "fail",
    side_effects = "None",
    groups = "",
    resources = "pods",
    verbs = "create",
    versions = "v1",
    name = "p.conformance.dev",
    admission_review_versions = "v1",
    patch = {"namespaceSelector":{"matchLabels":{"hooks":"on"}},"timeoutSeconds":7},
)]
#[webhook(
    path = "/q",
    mutating = false,
    failure_policy = "fail",
    side_effects = "None",
    groups = "",
    resources = "pods",
    verbs = "create",
    versions = "v1",
    name = "q.conformance.dev",
    admission_review_versions = "v1",
    patch = {"objectSelector":{"matchExpressions":[{"key":"tier","operator":"In","values":["a","b"]}]},"matchConditions":[{"name":"not-kube","expression":"!object.metadata.name.startsWith('kube-')"}]},
)]
pub fn serve() {}
