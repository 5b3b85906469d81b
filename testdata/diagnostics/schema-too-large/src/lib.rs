use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Widget is a kind.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: u8,
    pub tree: L0,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L0 {
    pub left: L1,
    pub right: Vec<L1>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L1 {
    pub left: L2,
    pub right: Vec<L2>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L2 {
    pub left: L3,
    pub right: Vec<L3>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L3 {
    pub left: L4,
    pub right: Vec<L4>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L4 {
    pub left: L5,
    pub right: Vec<L5>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L5 {
    pub left: L6,
    pub right: Vec<L6>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L6 {
    pub left: L7,
    pub right: Vec<L7>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L7 {
    pub left: L8,
    pub right: Vec<L8>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L8 {
    pub left: L9,
    pub right: Vec<L9>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L9 {
    pub left: L10,
    pub right: Vec<L10>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L10 {
    pub left: L11,
    pub right: Vec<L11>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L11 {
    pub left: L12,
    pub right: Vec<L12>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L12 {
    pub left: L13,
    pub right: Vec<L13>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L13 {
    pub left: L14,
    pub right: Vec<L14>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L14 {
    pub left: L15,
    pub right: Vec<L15>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L15 {
    pub left: L16,
    pub right: Vec<L16>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L16 {
    pub left: L17,
    pub right: Vec<L17>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L17 {
    pub left: L18,
    pub right: Vec<L18>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L18 {
    pub left: L19,
    pub right: Vec<L19>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L19 {
    pub left: L20,
    pub right: Vec<L20>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L20 {
    pub left: L21,
    pub right: Vec<L21>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L21 {
    pub left: L22,
    pub right: Vec<L22>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L22 {
    pub left: L23,
    pub right: Vec<L23>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L23 {
    pub left: L24,
    pub right: Vec<L24>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L24 {
    pub left: L25,
    pub right: Vec<L25>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L25 {
    pub left: L26,
    pub right: Vec<L26>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L26 {
    pub left: L27,
    pub right: Vec<L27>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L27 {
    pub left: L28,
    pub right: Vec<L28>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L28 {
    pub left: L29,
    pub right: Vec<L29>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L29 {
    pub left: L30,
    pub right: Vec<L30>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L30 {
    pub left: L31,
    pub right: Vec<L31>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L31 {
    pub left: L32,
    pub right: Vec<L32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L32 {
    pub left: L33,
    pub right: Vec<L33>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L33 {
    pub left: L34,
    pub right: Vec<L34>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L34 {
    pub left: L35,
    pub right: Vec<L35>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L35 {
    pub left: L36,
    pub right: Vec<L36>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L36 {
    pub left: L37,
    pub right: Vec<L37>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L37 {
    pub left: L38,
    pub right: Vec<L38>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L38 {
    pub left: L39,
    pub right: Vec<L39>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L39 {
    pub left: L40,
    pub right: Vec<L40>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct L40 {
    pub leaf: bool,
}
