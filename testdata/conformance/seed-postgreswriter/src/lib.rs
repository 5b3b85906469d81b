//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// PostgresWriter writes one row.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "demo.yash.com", version = "v1", status)]
pub struct PostgresWriter {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PostgresWriterSpec,
    #[serde(default)]
    pub status: PostgresWriterStatus,
}

/// PostgresWriterSpec is the row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PostgresWriterSpec {
    /// Table to write to.
    pub table: String,
    /// Age in years.
    #[validation(minimum = 0)]
    pub age: isize,
    pub name: String,
    pub country: String,
}

/// PostgresWriterStatus is left to the controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PostgresWriterStatus {
}
