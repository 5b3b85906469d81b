//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// ZebraSpec is in another file than Zebra.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ZebraSpec {
    #[serde(default)]
    pub stripes: StripeList,
}

/// StripeList is in a third file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(max_items = 40)]
pub struct StripeList(pub Vec<i32>);

/// Zebra has stripes.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "split.conformance.dev", version = "v1")]
pub struct Zebra {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ZebraSpec,
}
