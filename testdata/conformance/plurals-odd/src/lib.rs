//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Fish {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: FishSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FishSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Gateway {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: GatewaySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct GatewaySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Policy {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PolicySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Proxy {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ProxySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ProxySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Status {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: StatusSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct StatusSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Address {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: AddressSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct AddressSpec {
}
