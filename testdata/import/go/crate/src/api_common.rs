//! Types of the Go package `bakery.example.com/operator/api/common`.

use std::collections::BTreeMap;

use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

/// Reference names an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(struct_type = "atomic")]
pub struct Reference {
    /// Name of the object.
    #[validation(min_length = 1)]
    pub name: String,
    /// Namespace of the object; default: that of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Labelled is embedded where labels can be set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Labelled {
    /// Labels that are added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(map_type = "atomic")]
    pub labels: Option<BTreeMap<String, String>>,
}
