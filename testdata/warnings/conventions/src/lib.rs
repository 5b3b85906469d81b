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
    /// Yes or no.
    pub enabled: bool,
    /// A map of structs.
    #[validation(max_properties = 5)]
    pub servers: std::collections::BTreeMap<String, Server>,
    /// Null or a number.
    #[schema(nullable)]
    pub limit: Option<i32>,
    /// Any text.
    pub title: String,
    /// Any number of texts.
    pub names: Vec<String>,
    /// Any number of labels.
    pub labels: std::collections::BTreeMap<String, String>,
    /// Between two integers.
    pub ratio: f64,
    /// Bounded by its format.
    pub address: std::net::Ipv4Addr,
    /// How often.
    pub every: std::time::Duration,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    pub port: i32,
}

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1", kind = "side-car")]
pub struct SideCar {
    pub metadata: ObjectMeta,
    pub spec: Server,
}
