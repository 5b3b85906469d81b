use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// Above 255.
    #[schema(default = 300)]
    pub small: u8,
    /// Below zero.
    #[schema(default = {"port": -1})]
    pub server: Server,
    /// In a list.
    #[schema(default = [1, 0])]
    pub weights: Vec<std::num::NonZeroU16>,
    /// As large as it may be.
    #[schema(default = 65535)]
    pub fine: u16,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    pub port: u32,
}
