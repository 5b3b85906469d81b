//! Types that serde alone knows, with markers that would be lost.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::Resource;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: Spec,
}

/// +kubebuilder:validation:MinProperties=1
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// +kubebuilder:validation:Minimum=1
    pub size: i32,
    pub inner: Inner,
    pub mode: Mode,
    pub name: Name,
    pub plain: Plain,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inner {
    /// +kubebuilder:validation:Nonsense=1
    pub size: i32,
}

/// +kubebuilder:validation:Enum=A
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Mode {
    #[default]
    A,
    B,
}

/// +kubebuilder:validation:MaxLength=3
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Name(String);

/// Without markers nothing is lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plain {
    pub size: i32,
}

/// Nothing leads here.
/// +kubebuilder:validation:MinProperties=1
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unused {
    pub size: i32,
}
