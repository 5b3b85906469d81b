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

/// Without a client it has validations nevertheless.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "early.example.org", version = "v1")]
pub struct Late {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "foo.example.com", version = "bar-v1")]
pub struct One {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "foo-bar.example.com", version = "v1")]
pub struct Two {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "pools.example.com", version = "v1", kind = "IPPool", plural = "ippools")]
pub struct IPPool {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "pools.example.com", version = "v1", kind = "IpPool", plural = "ip-pools", singular = "ip-pool")]
pub struct IpPool {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}
