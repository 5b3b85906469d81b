//! Methods with names of their own, alone and together with the other tags.

mod types;
pub mod views;

pub use types::Weight;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// What is wanted of any of the kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Wanted {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// What was seen of any of the kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Seen {
    /// How many there are.
    #[serde(default)]
    pub size: i32,
    /// Which they are.
    #[serde(default)]
    pub selector: String,
}

/// Fleet is scaled: its methods come with the subresource.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "yard.example.com",
    version = "v1",
    status,
    scale(spec_path = ".spec.size", status_path = ".status.size", selector_path = ".status.selector")
)]
#[genclient]
pub struct Fleet {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Wanted,
    /// What was seen.
    #[serde(default)]
    pub status: Seen,
}

/// Dock is of the whole cluster, read alone, and scaled; only what reads the scale is there.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "yard.example.com",
    version = "v1",
    scope = "Cluster",
    status,
    scale(spec_path = ".spec.size", status_path = ".status.size")
)]
#[genclient(non_namespaced, readonly)]
pub struct Dock {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Wanted,
    /// What was seen.
    #[serde(default)]
    pub status: Seen,
}

/// Crane has methods for its scale that somebody has written down, as in Go, and one of them has another name.
///
/// +groupName=yard.example.com
/// +versionName=v1
/// +genclient
/// +genclient:noStatus
/// +genclient:skipVerbs=deleteCollection,watch
/// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
/// +genclient:method=Resize,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
/// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size
/// +kubebuilder:subresource:status
/// +resourceName=cranes
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Crane {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Wanted,
    /// What was seen.
    #[serde(default)]
    pub status: Seen,
}

/// Gate has nothing but methods: every verb on the resource itself, with types of its own.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "yard.example.com", version = "v1", group_name_in_code = "Harbour")]
#[genclient(
    no_verbs,
    method(name = "Open", verb = "create"),
    method(name = "Inspect", verb = "get", result = "Weight"),
    method(name = "InspectAll", verb = "list", result = "crate::views::Name"),
    method(name = "Repaint", verb = "update", input = "self::views::Named", result = "views::Named"),
    method(name = "Adjust", verb = "patch", result = "kubesmith_runtime::serde_json::Value"),
    method(name = "Declare", verb = "apply")
)]
pub struct Gate {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Wanted,
}

/// Lamp has its own create, a verb of the status alone, and the same methods on a subresource, of the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "yard.example.com", version = "v1", scope = "Cluster", plural = "lights", status)]
#[genclient(
    non_namespaced,
    resource_name = "lights",
    only_verbs("get", "updateStatus", "delete"),
    method { name = "Create", verb = "create", result = "Weight" },
    method { name = "GetStatus", verb = "get", subresource = "status", result = "Weight" },
    method { name = "ListStatus", verb = "list", subresource = "status" },
    method { name = "CreateStatus", verb = "create", subresource = "status" },
    method { name = "ReplaceStatus", verb = "update", subresource = "status" },
    method { name = "PatchStatus", verb = "patch", subresource = "status" },
    method { name = "ApplyStatus", verb = "apply", subresource = "status", result = "Weight" },
    method { name = "Type", verb = "apply", subresource = "status", input = "Gate", result = "Gate" }
)]
pub struct Lamp {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Wanted,
    /// What was seen.
    #[serde(default)]
    pub status: Seen,
}

/// Rope has a scale that no client may touch.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "yard.example.com",
    version = "v1",
    status,
    scale(spec_path = ".spec.size", status_path = ".status.size")
)]
#[genclient(no_scale, no_status, skip_verbs("patch"))]
pub struct Rope {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Wanted,
    /// What was seen.
    #[serde(default)]
    pub status: Seen,
}
