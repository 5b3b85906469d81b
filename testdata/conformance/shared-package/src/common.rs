//! A package of the case.

use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

/// Owner is described in another package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    pub name: Name,
    #[serde(default)]
    pub tags: Tags,
}

/// Name is limited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(max_length = 12)]
pub struct Name(pub String);

/// Tags are a set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(list_type = "set")]
pub struct Tags(pub Vec<String>);
