//! A database in a cluster.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, LocalObjectReference, ResourceRequirements, SecretKeySelector, Toleration,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A database with replicas, storage and users.
///
/// Changing `spec.storage.size` grows the volumes; they are never made smaller.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Deserialize, Serialize)]
#[kube(
    group = "operators.example.com",
    version = "v1beta1",
    kind = "Database",
    plural = "databases",
    shortname = "db",
    category = "data",
    namespaced,
    status = "DatabaseStatus",
    derive = "PartialEq",
    doc = "A database with replicas, storage and users",
    printcolumn(name = "Engine", type_ = "string", json_path = ".spec.engine.version"),
    printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas", description = "Replicas that answer"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    selectable = ".spec.class",
    validation = ("size(self.metadata.name) <= 40", "the name is part of the names of pods: at most 40 characters")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(self.standby) || self.replicas > 1", "a standby needs a second replica"))]
pub struct DatabaseSpec {
    /// Which class of databases it belongs to.
    #[x_kube(validation = ("self == oldSelf", "the class cannot be changed"))]
    #[serde(default = "default_class")]
    pub class: String,

    /// The engine and its settings.
    pub engine: Engine,

    /// How many pods run it.
    #[serde(default = "default_replicas")]
    #[schemars(range(min = 0, max = 9))]
    pub replicas: i32,

    pub storage: Storage,

    /// Users that are to exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[schemars(length(max = 100))]
    pub users: Vec<User>,

    /// Keeps a copy in another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby: Option<Standby>,

    #[serde(default)]
    pub pod: PodOptions,

    /// Settings of the engine, by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,

    /// What to do with the volumes when the database is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,

    pub monitoring: Option<Monitoring>,
}

fn default_class() -> String {
    "standard".to_string()
}

const fn default_replicas() -> i32 {
    1
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Engine {
    /// Such as `16.4`.
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+){0,2}$"))]
    pub version: String,
    pub flavor: Option<Flavor>,
    /// An image instead of the one that goes with the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default)]
    pub pull_secrets: Vec<LocalObjectReference>,
    #[serde(default)]
    pub extensions: Vec<Extension>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flavor {
    #[default]
    Vanilla,
    WideColumn,
    TimeSeries,
}

/// An extension of the engine.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Extension {
    pub name: String,
    #[serde(default = "yes")]
    pub trusted: bool,
}

fn yes() -> bool {
    true
}

/// Volumes.
#[derive(KubeSchema, Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// The size of each volume.
    pub size: Quantity,
    #[x_kube(validation = ("self == oldSelf", "the storage class cannot be changed"))]
    pub storage_class_name: Option<String>,
    /// A volume for the log alone.
    pub log_size: Option<Quantity>,
    #[serde(default)]
    pub access_modes: Vec<AccessMode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum AccessMode {
    ReadWriteOnce,
    ReadWriteOncePod,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    pub password: PasswordSource,
    #[serde(default)]
    pub databases: Vec<String>,
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub roles: Vec<String>,
}

/// Where a password comes from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PasswordSource {
    /// A key of a secret.
    SecretKeyRef(SecretKeySelector),
    /// The operator makes one up.
    Generated { length: Option<u8> },
    /// A path in a vault.
    Vault { path: String, key: String },
}

/// A copy in another place.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Standby {
    pub host: String,
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    #[serde(flatten)]
    pub timing: Timing,
}

fn default_port() -> u16 {
    5432
}

/// Times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Timing {
    pub lag_seconds: u32,
    pub timeout_seconds: Option<u32>,
}

/// Options of the pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PodOptions {
    pub resources: Option<ResourceRequirements>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    pub node_selector: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
    pub priority_class_name: Option<String>,
}

/// What becomes of volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum DeletionPolicy {
    /// They stay.
    #[default]
    Retain,
    /// They go.
    Delete,
}

/// Whether and how metrics are offered.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Monitoring {
    #[serde(default)]
    pub enabled: bool,
    pub selector: Option<LabelSelector>,
    #[serde(default = "default_interval")]
    pub interval: String,
}

fn default_interval() -> String {
    String::from("30s")
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    pub phase: Option<Phase>,
    #[serde(default)]
    pub replicas: i32,
    #[serde(default)]
    pub ready_replicas: i32,
    pub selector: Option<String>,
    /// The generation that was acted upon.
    pub observed_generation: Option<i64>,
    pub endpoints: Option<Endpoints>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Phase {
    #[default]
    Pending,
    Creating,
    Ready,
    Failed,
}

/// Where it answers.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoints {
    pub read_write: String,
    pub read_only: Option<String>,
}
