//! Twin of the Go types of the case.
//! +groupName=bad.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Bad {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BadSpec,
}

/// +kubebuilder:validation:AtLeastOneOf=a;inner.b
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BadSpec {
    pub a: Option<String>,
    #[serde(default)]
    pub inner: Inner,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Inner {
    #[serde(default)]
    pub b: String,
}
