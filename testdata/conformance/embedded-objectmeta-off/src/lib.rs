//! Twin of the Go types of the case.
//! +groupName=known.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Stamp {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: StampSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct StampSpec {
    pub template: StampTemplate,
    /// Meta as a named field.
    #[serde(default)]
    pub meta: ObjectMeta,
    pub ptr_meta: Option<ObjectMeta>,
    #[serde(default)]
    pub metas: Vec<ObjectMeta>,
    #[serde(default)]
    pub type_meta: TypeMeta,
    #[serde(default)]
    pub list_meta: ListMeta,
}

/// StampTemplate is copied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct StampTemplate {
    /// Standard metadata.
    #[serde(default)]
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub ink: String,
}

// k8s-openapi has no such type.

/// TypeMeta describes an individual object in an API response or request
/// with strings representing the type of the object and its API schema version.
/// Structures that are versioned or persisted should inline TypeMeta.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// Kind is a string value representing the REST resource this object represents.
    /// Servers may infer this from the endpoint the client submits requests to.
    /// Cannot be updated.
    /// In CamelCase.
    /// More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
    /// +optional
    pub kind: String,
    /// APIVersion defines the versioned schema of this representation of an object.
    /// Servers should convert recognized schemas to the latest internal value, and
    /// may reject unrecognized values.
    /// More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
    /// +optional
    pub api_version: String,
}
