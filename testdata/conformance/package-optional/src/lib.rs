//! Twin of the Go types of the case.
//! +kubebuilder:validation:Optional
//! +groupName=presence.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Survey {
    pub metadata: ObjectMeta,
    pub spec: SurveySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SurveySpec {
    pub plain: String,
    pub ptr: Option<i32>,
    /// +required
    pub req: String,
    /// +kubebuilder:validation:Required
    #[serde(default)]
    pub kb_req: String,
    /// +optional
    pub opt: String,
    pub inner: Answer,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Answer {
    pub text: String,
    /// +k8s:required
    pub score: i32,
}
