//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cel.conformance.dev", version = "v1")]
pub struct Echo {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: EchoSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct EchoSpec {
    #[serde(default)]
    #[validation(rule(rule = "self > 0", message_expression = "'days is ' + string(self) + ', must be positive'"))]
    pub days: i64,
    #[serde(default)]
    #[validation(rule(rule = "size(self) != 3", optional_old_self = false), max_properties = 4)]
    pub pets: BTreeMap<String, String>,
}
