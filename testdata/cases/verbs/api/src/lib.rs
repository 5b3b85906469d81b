//! Every tag that chooses verbs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Every has every verb.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", status)]
#[genclient]
pub struct Every {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: EverySpec,
    /// What was seen.
    #[serde(default)]
    pub status: EveryStatus,
}

/// What is wanted of a Every.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct EverySpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// What was seen of a Every.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct EveryStatus {
    /// Phase in a word.
    #[serde(default)]
    pub phase: String,
}

/// NoStatus has a status that clients leave alone.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", status)]
#[genclient(no_status)]
pub struct NoStatus {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: NoStatusSpec,
    /// What was seen.
    #[serde(default)]
    pub status: NoStatusStatus,
}

/// What is wanted of a NoStatus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct NoStatusSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// What was seen of a NoStatus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct NoStatusStatus {
    /// Phase in a word.
    #[serde(default)]
    pub phase: String,
}

/// NoVerbs has a client without methods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[genclient(no_verbs)]
pub struct NoVerbs {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: NoVerbsSpec,
}

/// What is wanted of a NoVerbs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct NoVerbsSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// OnlyGetList can be listed but not watched.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced, only_verbs("get", "list"))]
pub struct OnlyGetList {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: OnlyGetListSpec,
}

/// What is wanted of a OnlyGetList.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct OnlyGetListSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// OnlyListWatch has an informer, whose lister is the runtime's.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced, only_verbs("list", "watch"))]
pub struct OnlyListWatch {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: OnlyListWatchSpec,
}

/// What is wanted of a OnlyListWatch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct OnlyListWatchSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// Readonly can be read.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[genclient(readonly)]
pub struct Readonly {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ReadonlySpec,
}

/// What is wanted of a Readonly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ReadonlySpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// SkipDelete cannot be deleted.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[genclient(skip_verbs("delete", "deleteCollection"))]
pub struct SkipDelete {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: SkipDeleteSpec,
}

/// What is wanted of a SkipDelete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct SkipDeleteSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// WithoutClient is in the scheme alone.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
pub struct WithoutClient {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: WithoutClientSpec,
}

/// What is wanted of a WithoutClient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WithoutClientSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}
