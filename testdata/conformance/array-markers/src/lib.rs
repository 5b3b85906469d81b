//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Playlist orders tracks.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "lists.conformance.dev", version = "v1")]
pub struct Playlist {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PlaylistSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PlaylistSpec {
    #[validation(min_items = 1, max_items = 64)]
    pub tracks: Vec<Track>,
    #[serde(default)]
    #[validation(max_items = 8)]
    pub genres: Vec<String>,
    #[serde(default)]
    pub years: Vec<i32>,
    /// Bonus tracks are pointers.
    #[serde(default)]
    #[validation(min_items = 0)]
    pub bonus: Vec<Track>,
    /// Grid is a list of lists.
    #[serde(default)]
    #[validation(max_items = 3)]
    pub grid: Vec<Vec<String>>,
    /// A pointer to a list.
    pub extra: Option<Vec<String>>,
    /// A fixed size array.
    #[serde(default)]
    pub fixed: Vec<i32>, // Go reads an array from a list of any length.
}

/// Track is one song.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Track {
    pub title: String,
    /// Seconds it lasts.
    #[serde(default)]
    pub seconds: i64,
}
