//! A package of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shared.conformance.dev", version = "v1")]
pub struct House {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: HouseSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HouseSpec {
    pub owner: crate::common::Owner,
    /// Former owner.
    #[validation(rule(rule = "self.name != ''"))]
    pub former: Option<crate::common::Owner>,
    #[serde(default)]
    pub street: crate::common::Name,
    #[serde(default)]
    pub tags: crate::common::Tags,
    #[serde(default)]
    #[schema(default = "none")]
    pub alley: crate::common::Name,
}
