//! A backup on a schedule.

use std::collections::{BTreeMap, HashMap};

use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements, SecretKeySelector};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::destination::Destination;

pub mod destination;

/// Copies volumes to a destination, on a schedule or once.
#[derive(CustomResource, Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "operators.example.com",
    version = "v1alpha1",
    kind = "Backup",
    namespaced,
    status = "BackupStatus",
    shortname = "bk",
    printcolumn(name = "Schedule", type_ = "string", json_path = ".spec.schedule.cron"),
    printcolumn(name = "Last", type_ = "date", json_path = ".status.lastSuccess"),
    deprecated = "use v1 of the other group"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupSpec {
    /// When it runs.
    pub schedule: Schedule,
    /// Where copies go.
    pub destinations: Vec<Destination>,
    /// What is copied.
    pub source: Selection,
    /// What is left out.
    #[serde(default)]
    pub exclude: Option<Selection>,
    /// How many copies are kept.
    #[serde(default)]
    pub retention: Retention,
    /// Commands before and after.
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    #[serde(default)]
    pub compression: Option<Compression>,
    /// Taken from the pod's template where absent.
    #[serde(default)]
    pub resources: ResourceRequirements,
    #[serde(default)]
    pub suspend: bool,
}

/// When something runs.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Schedule {
    /// By a cron expression.
    #[schemars(description = "A cron expression with five fields")]
    Cron(#[schemars(regex(pattern = r"^(\S+ ){4}\S+$"))] String),
    /// Every so many seconds.
    Every {
        #[schemars(range(min = 60))]
        seconds: u32,
        jitter: Option<u32>,
    },
    /// Once.
    Once {},
}

/// Objects by name or by labels.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Selection {
    #[serde(rename_all = "camelCase")]
    Names {
        /// The names of volume claims.
        claim_names: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Selector {
        /// Labels of volume claims.
        claim_selector: LabelSelector,
        limit: Option<u16>,
    },
}

/// Numbers of copies.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Retention {
    #[serde(default = "keep::daily")]
    pub daily: u16,
    #[serde(default = "keep::weekly")]
    pub weekly: u16,
    #[serde(default)]
    pub monthly: Option<u16>,
}

impl Default for Retention {
    fn default() -> Self {
        Self { daily: keep::daily(), weekly: keep::weekly(), monthly: None }
    }
}

mod keep {
    const WEEK: u16 = 7;

    pub(super) fn daily() -> u16 {
        WEEK
    }

    pub(super) fn weekly() -> u16 {
        4
    }
}

/// Commands.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Hooks {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Hook>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Hook>,
}

impl Hooks {
    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// One command.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    pub command: Vec<String>,
    #[serde(default)]
    pub env: Vec<EnvVar>,
    #[serde(default)]
    pub on_error: OnError,
    #[serde(default = "Hook::timeout")]
    pub timeout_seconds: i64,
}

impl Hook {
    const TIMEOUT: i64 = 5 * 60;

    const fn timeout() -> i64 {
        Self::TIMEOUT
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    #[default]
    Fail,
    Continue,
}

/// How copies are made smaller.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Compression {
    #[serde(default)]
    pub method: Method,
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 22))]
    pub level: i8,
}

fn three() -> i8 {
    3
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Fast.
    Lz4,
    /// Small.
    #[default]
    Zstd,
    None,
}

/// What was seen.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    pub last_success: Option<chrono::DateTime<chrono::Utc>>,
    pub last_failure: Option<chrono::DateTime<chrono::Utc>>,
    #[serde(default)]
    pub copies: Vec<Copy>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
    #[serde(default, skip_serializing_if = "HashMap::is_empty")]
    pub bytes_by_claim: HashMap<String, u64>,
}

/// One copy.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Copy {
    pub id: uuid::Uuid,
    pub bytes: u64,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    pub key: Option<SecretKeySelector>,
}
