//! Version v1, which is stored: the parts of a schedule are fields, and there are time zones.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// CronTab starts containers again and again.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "stable.example.com",
    version = "v1",
    short_name = "ct",
    storage_version,
    print_column(name = "Image", type = "string", json_path = ".spec.image"),
    print_column(name = "Replicas", type = "integer", json_path = ".spec.replicas"),
    conversion(
        strategy = "Webhook",
        service_namespace = "crontab-system",
        service_name = "crontab-webhook-service",
        path = "/convert"
    )
)]
#[genclient]
pub struct CronTab {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: CronTabSpec,
}

/// What is wanted of a CronTab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CronTabSpec {
    /// When containers are started.
    pub schedule: Schedule,
    /// The clock that the schedule means: an IANA time zone; without one that of the cluster.
    #[validation(min_length = 1)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// What is run.
    #[validation(min_length = 1)]
    pub image: String,
    /// How many containers are started at a time.
    #[schema(default = 1)]
    #[validation(minimum = 0, maximum = 10)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// What happens when the last run has not ended.
    #[schema(default = "Allow")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_policy: Option<ConcurrencyPolicy>,
}

/// When containers are started: the fields of a line of crontab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// At which minutes of the hour.
    #[schema(default = "*")]
    #[validation(pattern = "^[0-9*,/-]+$")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minute: Option<String>,
    /// In which hours of the day.
    #[schema(default = "*")]
    #[validation(pattern = "^[0-9*,/-]+$")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<String>,
    /// On which days of the month.
    #[schema(default = "*")]
    #[validation(pattern = "^[0-9*,/-]+$")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day_of_month: Option<String>,
    /// In which months.
    #[schema(default = "*")]
    #[validation(pattern = "^[0-9*,/-]+$")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month: Option<String>,
    /// On which days of the week; 0 is Sunday.
    #[schema(default = "*")]
    #[validation(pattern = "^[0-7*,/-]+$")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day_of_week: Option<String>,
}

/// What happens when the last run has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum ConcurrencyPolicy {
    /// Both run.
    Allow,
    /// The new one is left out.
    Forbid,
    /// The new one takes the place of the other.
    Replace,
}
