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
    /// Items of this list have no identity.
    pub ports: Vec<Port>,
    /// A list of scalars.
    #[validation(items(rule(rule = "self == oldSelf")))]
    pub names: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    #[validation(rule(rule = "self >= oldSelf", message = "ports only go up"))]
    pub number: i32,
}
