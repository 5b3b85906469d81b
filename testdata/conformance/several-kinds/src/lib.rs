//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Cat purrs.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "many.conformance.dev", version = "v1alpha1", short_name = "ct")]
pub struct Cat {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CatSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CatSpec {
    #[serde(flatten)]
    pub common: Common,
    #[serde(default)]
    pub lives: i32,
}

/// Dog barks.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "many.conformance.dev", version = "v1alpha1", status)]
pub struct Dog {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: DogSpec,
    #[serde(default)]
    pub status: DogStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct DogSpec {
    #[serde(flatten)]
    pub common: Common,
    pub friend: Option<Common>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct DogStatus {
    #[serde(default)]
    pub barks: i64,
}

/// Common is shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Common {
    #[validation(max_length = 20)]
    pub name: String,
}

/// Ant has no TypeMeta, so it is no kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Ant {
    #[serde(default)]
    pub metadata: ObjectMeta,
    pub legs: i32,
}
