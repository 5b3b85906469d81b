//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "overrides.conformance.dev", version = "v1")]
pub struct Clock {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ClockSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ClockSpec {
    /// Alarm is read as a string.
    #[validation(type = "string", format = "date")]
    #[schema(schemaless)]
    pub alarm: Day,
    #[serde(default)]
    pub rest: Night,
    #[serde(default)]
    #[validation(type = "integer", format = "int64", minimum = 3)]
    pub ticks: String,
    #[serde(default)]
    #[validation(format = "password")]
    pub secret: String,
}

/// Day has no schema of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Day {
}

// Night is a string; Go gives types with a JSON form of their own no description.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(type = "string", max_length = 5)]
pub struct Night {
}
