//! Twin of the Go types of the case. Of two markers that contradict each other, only that which wins is here.
//! +groupName=presence.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Quizcard {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: QuizcardSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct QuizcardSpec {
    /// +k8s:optional
    pub a: String,
    /// +k8s:required
    #[serde(default)]
    pub b: String,
    /// +k8s:optional
    pub c: String,
    /// +kubebuilder:validation:Optional
    pub d: String,
    /// +k8s:required
    pub e: Option<Card>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Card {
    /// +k8s:required
    #[serde(default)]
    pub front: String,
    #[serde(default)]
    pub back: String,
}
