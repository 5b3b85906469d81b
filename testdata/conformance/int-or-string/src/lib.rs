//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1")]
pub struct Budget {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BudgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetSpec {
    pub max_surge: IntOrString,
    /// Unavailable may be a percentage.
    #[validation(x_int_or_string, pattern = "^[0-9]+%?$")]
    #[schema(default = "25%")]
    pub unavailable: Option<IntOrString>,
    #[serde(default)]
    #[schema(default = 1)]
    pub count: IntOrString,
    #[serde(default)]
    pub ports: Vec<IntOrString>,
    #[serde(default)]
    pub by_name: BTreeMap<String, IntOrString>,
    #[serde(default)]
    #[validation(x_int_or_string)]
    pub free: Free,
    #[serde(default)]
    #[validation(x_int_or_string, max_length = 5)]
    pub loose: String,
}

/// Free has its own encoding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Free {
}
