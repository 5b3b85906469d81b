//! kube stores every version that says nothing.

pub mod v1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "kube.example.com", version = "v1", kind = "Both")]
    pub struct BothSpec {}

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "kube.example.com", version = "v1", kind = "Settled")]
    pub struct SettledSpec {}

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "kube.example.com", version = "v1", kind = "Twice", storage = true)]
    pub struct TwiceSpec {}
}

pub mod v2 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "kube.example.com", version = "v2", kind = "Both")]
    pub struct BothSpec {}

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "kube.example.com", version = "v2", kind = "Settled", storage = false)]
    pub struct SettledSpec {}

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "kube.example.com", version = "v2", kind = "Twice", storage = true)]
    pub struct TwiceSpec {}
}
