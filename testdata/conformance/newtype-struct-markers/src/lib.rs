//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "newtypes.conformance.dev", version = "v1")]
pub struct Casket {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CasketSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CasketSpec {
    /// Inner has both.
    #[validation(type = "object", min_properties = 1, rule(rule = "self.size > 1", message = "field rule"))]
    pub inner: Jewel,
    #[schema(preserve_unknown_fields)]
    pub other: Option<Jewel>,
    #[schema(default = {"size": 2}, nullable)]
    pub third: Option<Jewel>,
}

/// Jewel shines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(min_properties = 1, max_properties = 2, rule(rule = "self.size > 0", message = "type rule"))]
pub struct Jewel {
    pub size: i32,
    #[serde(default)]
    pub cut: String,
}
