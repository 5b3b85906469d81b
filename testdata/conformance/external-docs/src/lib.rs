//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "docs.conformance.dev", version = "v1")]
pub struct Manual {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ManualSpec,
}

/// ManualSpec refers elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[schema(external_docs(url = "https://docs.example.org/manual", description = "The manual"))]
pub struct ManualSpec {
    #[serde(default)]
    #[schema(external_docs(url = "https://docs.example.org/page?x=1#top"))]
    pub page: String,
    #[serde(default)]
    #[schema(external_docs(url = "https://docs.example.org/chapter", description = "Chapter list"))]
    pub chapter: Chapter,
    #[serde(default)]
    pub appendix: Chapter,
}

/// Chapter is a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[schema(external_docs(url = "https://docs.example.org/part"))]
pub struct Chapter {
    #[serde(default)]
    pub n: i32,
}
