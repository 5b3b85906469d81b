use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub call: fn(i32) -> i32,
    pub any: Box<dyn Send>,
    pub nested: (String, fn()),
    pub length: [u8; LENGTH],
    pub fine: (String, i32),
    pub nothing: (),
}

/// Not known before the program runs.
pub static LENGTH: usize = std::mem::size_of::<String>();
