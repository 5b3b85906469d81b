use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Misspelt")]
#[sered(rename_all = "camelCase")]
pub struct MisspeltSpec {
    #[schemar(range(min = 1))]
    pub count: i32,
    #[xkube(validation = "self != ''")]
    pub name: String,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Parts")]
pub struct PartsSpec {
    pub ours: Ours,
    pub rules: Rules,
    pub checked: Checked,
    pub foreign: Foreign,
    #[serde(default = "no_such")]
    pub size: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Ours {
    #[validation(minimum = 1)]
    pub count: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Rules {
    #[x_kube(validation = "self != ''")]
    pub name: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, KubeSchema)]
pub struct Checked {
    #[garde(length(min = 1))]
    pub name: String,
}

/// Another derive may read any attribute.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, other::Described)]
pub struct Foreign {
    #[validation(minimum = 1)]
    #[x_kube(validation = "self > 1")]
    pub count: i32,
}
