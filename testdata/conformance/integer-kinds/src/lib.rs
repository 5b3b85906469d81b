//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Register has one field per integer kind.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "numbers.conformance.dev", version = "v1beta1")]
pub struct Register {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RegisterSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterSpec {
    pub i8: i8,
    pub i16: i16,
    pub i32: i32,
    pub i64: i64,
    pub i: isize,
    pub u8: u8,
    pub u16: u16,
    pub u32: u32,
    pub u64: u64,
    pub u: usize,
    pub r: i32,
    pub b: u8,
    /// Several names share one declaration.
    pub xy: i32,
}
