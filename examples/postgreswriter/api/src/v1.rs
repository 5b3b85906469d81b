//! Version `v1` of group `demo.yash.com`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// PostgresWriter is a row in a table: there is exactly one as long as the object exists, and none afterwards.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "demo.yash.com",
    version = "v1",
    kind = "PostgresWriter",
    group_name_in_code = "Demo",
    status,
    print_column(name = "Table", json_path = ".spec.table"),
    print_column(name = "Name", json_path = ".spec.name"),
    print_column(
        name = "Written",
        type = "string",
        json_path = ".status.conditions[?(@.type==\"Written\")].status"
    ),
    print_column(name = "Age", json_path = ".metadata.creationTimestamp")
)]
#[genclient]
#[deepcopy]
pub struct PostgresWriter {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    pub spec: PostgresWriterSpec,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub status: PostgresWriterStatus,
}

/// PostgresWriterSpec is what the row holds, beside the object's namespace and name as its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct PostgresWriterSpec {
    /// The table, which is there already: one name, as the database has it, without a schema's.
    #[validation(min_length = 1, max_length = 63, pattern = "^[^\\x00]*$")]
    #[schema(example = "students")]
    pub table: String,
    /// The value of the column `name`.
    #[validation(pattern = "^[^\\x00]*$")]
    #[schema(example = "alex")]
    pub name: String,
    /// The value of the column `age`.
    #[validation(minimum = 0)]
    #[schema(example = 23)]
    pub age: i32,
    /// The value of the column `country`.
    #[validation(pattern = "^[^\\x00]*$")]
    #[schema(example = "canada")]
    pub country: String,
}

/// PostgresWriterStatus says where the row is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase", default)]
pub struct PostgresWriterStatus {
    /// The tables that have, or may have, the row: one, or two while it moves. A table is remembered before anything is
    /// written there, so that no row is left behind whatever happens in between.
    #[schema(list_type = "set")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// The generation of the spec that the rest of the status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Written`: the row is as the spec says.
    #[schema(list_type = "map", list_map_key = "type")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
