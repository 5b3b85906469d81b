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
    /// A port.
    pub port: u16,
    /// With one bound.
    #[validation(minimum = 0)]
    pub small: u8,
    /// In a list.
    #[validation(max_items = 3)]
    pub list: Vec<u32>,
    /// Behind a newtype with bounds.
    pub percent: Percent,
    /// Bounded by its values.
    #[validation(enum(1, 2))]
    pub level: i8,
    /// As wide as the server's.
    pub count: i64,
    /// Without a sign.
    #[validation(maximum = 100)]
    pub total: u64,
    /// As wide as its format.
    pub fine: i32,
}

/// From 0 to 100.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[validation(minimum = 0, maximum = 100)]
pub struct Percent(u8);
