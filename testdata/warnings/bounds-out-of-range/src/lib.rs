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
    /// The limits of its type.
    #[validation(minimum = -9223372036854775808)]
    pub low: i64,
    #[validation(maximum = 9223372036854775807)]
    pub high: i64,
    /// Beyond its format.
    #[validation(maximum = 2147483648)]
    pub small: i32,
    /// In a list.
    #[validation(max_items = 3, items(maximum = 9223372036854775807))]
    pub list: Vec<i64>,
    /// The greatest number below 2^63 that a float has.
    #[validation(maximum = 9223372036854774784)]
    pub fine: i64,
}
