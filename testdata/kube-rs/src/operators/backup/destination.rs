//! Where copies go.

use k8s_openapi::api::core::v1::{LocalObjectReference, PersistentVolumeClaimVolumeSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// A place, and how it is reached.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Destination {
    pub name: String,
    #[serde(flatten)]
    pub place: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<super::super::Limit>,
}

/// A place.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// Object storage.
    Bucket(Bucket),
    /// A volume.
    Volume(PersistentVolumeClaimVolumeSource),
    /// A host.
    Host { url: Url, credentials: Option<LocalObjectReference> },
}

/// A bucket.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bucket {
    pub name: String,
    #[serde(default)]
    pub prefix: String,
    #[serde(default = "default_region")]
    pub region: String,
    pub endpoint: Option<Url>,
    #[serde(default)]
    pub path_style: bool,
}

fn default_region() -> String {
    crate::operators::REGION.to_string()
}
