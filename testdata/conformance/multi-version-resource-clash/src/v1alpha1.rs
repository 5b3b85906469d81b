use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:resource:path=axes,shortName=ax
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Axle {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: AxleSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct AxleSpec {
    #[serde(default)]
    pub len: String,
}
