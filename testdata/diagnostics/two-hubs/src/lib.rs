use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

pub mod v1 {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "example.com", version = "v1", hub)]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: WidgetSpec,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
    pub struct WidgetSpec {
        pub size: i32,
    }
}

pub mod v1beta1 {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "example.com", version = "v1beta1", storage_version, hub)]
    pub struct Widget {
        pub metadata: ObjectMeta,
        pub spec: WidgetSpec,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
    pub struct WidgetSpec {
        pub size: i32,
    }
}
