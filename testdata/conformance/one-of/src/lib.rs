//! Twin of the Go types of the case.
//! +groupName=oneof.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Route {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RouteSpec,
}

/// RouteSpec picks a target.
/// +kubebuilder:validation:ExactlyOneOf=service;url
/// +kubebuilder:validation:AtMostOneOf=header;query;cookie
/// +kubebuilder:validation:AtLeastOneOf=host;path
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct RouteSpec {
    /// +optional
    pub service: Option<String>,
    /// +optional
    pub url: Option<String>,
    pub header: Option<String>,
    pub query: Option<String>,
    pub cookie: Option<String>,
    #[serde(default)]
    pub host: String,
    #[serde(default)]
    pub path: String,
    pub weight: i32,
}
