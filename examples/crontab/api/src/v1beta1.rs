//! Version v1beta1: a schedule is a line of text, and nobody knows of time zones.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// CronTab starts containers again and again.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "stable.example.com",
    version = "v1beta1",
    short_name = "ct",
    print_column(name = "Schedule", json_path = ".spec.schedule"),
    print_column(name = "Image", json_path = ".spec.image")
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
    /// When containers are started: minute, hour, day of the month, month and day of the week, as in crontab.
    #[validation(pattern = "^[0-9*,/-]+( +[0-9*,/-]+){4}$")]
    pub schedule: String,
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
