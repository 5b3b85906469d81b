//! Constants that are named as defaults and cannot be.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

const NUMBER: i32 = 3;
const TIME: u64 = now();

const fn now() -> u64 {
    let time = 1;
    time
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[schema(default = ref(NUMBR))]
    pub missing: i32,
    #[schema(default = ref(TIME))]
    pub computed: u64,
    #[schema(default = ref(NUMBER))]
    pub other_type: String,
    #[schema(default = ref(std::i32::MAX))]
    pub of_another_crate: i32,
    #[schema(default = NUMBER)]
    pub bare: i32,
    #[schema(default = ref(1 + 2))]
    pub expression: i32,
    #[schema(example = ref(NUMBER))]
    pub example: i32,
    /// +default=ref(k8s.io/api/core/v1.ProtocolTCP)
    pub of_go: String,
}
