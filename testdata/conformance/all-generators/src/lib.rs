//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema, rbac, webhook};
use serde::{Deserialize, Serialize};

/// Kit is all in one.
#[rbac(
    groups = "everything.conformance.dev",
    resources("kits", "kits/status"),
    verbs("get", "list", "watch", "update")
)]
#[webhook(
    path = "/validate-everything-conformance-dev-v1-kit",
    mutating = false,
    failure_policy = "Fail",
    side_effects = "None",
    groups = "everything.conformance.dev",
    resources = "kits",
    verbs("create", "update"),
    versions = "v1",
    name = "vkit.conformance.dev",
    admission_review_versions = "v1"
)]
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "everything.conformance.dev", version = "v1", status)]
pub struct Kit {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: KitSpec,
    #[serde(default)]
    pub status: KitStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct KitSpec {
    #[serde(default)]
    pub parts: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct KitStatus {
    #[serde(default)]
    pub built: bool,
}
