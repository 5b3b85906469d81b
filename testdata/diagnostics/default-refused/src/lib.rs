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
    /// Not a match.
    #[schema(default = "UPPER")]
    pub code: Code,
    /// No address.
    #[schema(default = "localhost")]
    #[validation(format = "ipv4")]
    pub address: String,
    /// Odd.
    #[schema(default = 3)]
    #[validation(multiple_of = 2)]
    pub even: i32,
    /// A rule says no.
    #[schema(default = "root")]
    #[validation(rule(rule = "self != 'root'", message = "root is not allowed"))]
    pub user: String,
    /// In a list.
    #[schema(default = [{"size": 1}, {"size": "x"}])]
    pub items: Vec<Item>,
    /// Of a flattened struct.
    #[serde(flatten)]
    pub more: More,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub size: i32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct More {
    #[schema(default = "abcdef")]
    pub short: Short,
}

/// Five characters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[validation(max_length = 5)]
pub struct Short(String);

/// Lower case.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[validation(pattern = "^[a-z]+$")]
pub struct Code(String);
