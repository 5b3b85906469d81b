use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Disabled", schema = "disabled")]
pub struct DisabledSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Manual", schema = "manual")]
pub struct ManualSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Tree")]
pub struct TreeSpec {
    pub trees: Vec<TreeSpec>,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Wide")]
pub struct WideSpec {
    pub wide: L0<L0<L0<L0<L0<String>>>>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct L0<T> {
    pub a: Pair<Pair<T>>,
    pub b: Pair<Pair<T>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Pair<T> {
    pub a: T,
    pub b: T,
    pub c: T,
    pub d: T,
}
