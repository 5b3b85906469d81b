//! Twin of the Go types of the case.
//! +groupName=newtypes.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Badge {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BadgeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BadgeSpec {
    /// Same kinds of limit on both levels.
    /// +kubebuilder:validation:MaxLength=5
    /// +kubebuilder:validation:Pattern=`^[a-m]+$`
    pub short: Name,
    /// Another limit than the type has.
    /// +kubebuilder:validation:Format=hostname
    #[serde(default)]
    pub host: Name,
    /// Equal limits.
    /// +kubebuilder:validation:MaxLength=32
    #[serde(default)]
    pub equal: Name,
    #[serde(default)]
    pub plain: Name,
    /// +kubebuilder:validation:Maximum=10
    /// +kubebuilder:validation:Minimum=5
    pub rank: Option<Rank>,
    /// +kubebuilder:validation:items:MaxLength=4
    #[serde(default)]
    pub names: Vec<Name>,
    /// +kubebuilder:default=7
    #[serde(default)]
    pub preset: Rank,
    /// +nullable
    /// +kubebuilder:title=A rank
    /// +kubebuilder:example=3
    pub maybe: Option<Rank>,
}

/// Name of something.
/// +kubebuilder:validation:MaxLength=32
/// +kubebuilder:validation:Pattern=`^[a-z]+$`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Name(pub String);

/// Rank is a number.
/// +kubebuilder:validation:Minimum=1
/// +kubebuilder:validation:ExclusiveMaximum=true
/// +kubebuilder:validation:Maximum=100
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Rank(pub i32);
