//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cel.conformance.dev", version = "v1")]
pub struct Lease {
    pub metadata: ObjectMeta,
    pub spec: LeaseSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseSpec {
    #[validation(rule(rule = "self == oldSelf", message = "Tenant cannot change"))]
    pub tenant: String,
    #[serde(default)]
    #[validation(rule(rule = "self > 0", message_expression = "self < -9 ? 'far too few days' : 'days must be positive'"))]
    pub days: i64,
    #[serde(default)]
    #[validation(rule(rule = "self % 2 == 0", message = "must be even", reason = "FieldValueForbidden"))]
    pub rooms: i32,
    #[serde(default)]
    #[validation(rule(rule = "self.low <= self.high", message = "low above high", field_path = ".low", reason = "FieldValueInvalid"))]
    pub band: Band,
    #[serde(default)]
    #[validation(rule(rule = "!oldSelf.hasValue() || self >= oldSelf.value()", message = "may only grow", optional_old_self))]
    pub size: i32,
    #[serde(default)]
    #[validation(rule(rule = r#"self.matches("^[a-z]+$")"#, message = r#"say "lower""#), max_length = 40)]
    pub name: String,
    #[serde(default)]
    #[validation(rule(rule = "size(self) != 3 || size(oldSelf) == 3", optional_old_self = false), max_properties = 4)]
    pub pets: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Band {
    pub low: i32,
    pub high: i32,
}
