//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "loose.conformance.dev", version = "v1")]
pub struct Chart {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ChartSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ChartSpec {
    /// Values of the chart.
    pub values: Option<JSON>,
    pub plain: JSON,
    #[serde(default)]
    pub list: Vec<JSON>,
    #[serde(default)]
    pub map: BTreeMap<String, JSON>,
    #[validation(type = "object", max_properties = 9)]
    pub object: Option<JSON>,
    #[schema(default = {"a": 1})]
    pub preset: Option<JSON>,
}
