use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "parts.example.com", version = "v1")]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "parts.example.org", version = "v1")]
#[genclient]
pub struct Gadget {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct GadgetSpec {
    pub size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "early.example.com", version = "foo10")]
#[genclient]
pub struct Early {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "early.example.com", version = "foo-10")]
#[genclient]
pub struct Dashed {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}
