//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Balancer splits traffic over weighted backends.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "exposer.hliangzhao.io", version = "v1alpha1", status, scale(spec_path = ".spec.replicas", status_path = ".status.replicas", selector_path = ".status.selector"))]
#[genclient]
pub struct Balancer {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BalancerSpec,
    #[serde(default)]
    pub status: BalancerStatus,
}

/// BalancerSpec says where traffic goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BalancerSpec {
    #[validation(min_items = 1)]
    pub backends: Vec<BackendSpec>,
    #[serde(default)]
    pub selector: BTreeMap<String, String>,
    pub ports: Vec<BalancerPort>,
}

/// BackendSpec is one weighted target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BackendSpec {
    #[validation(min_length = 1)]
    pub name: String,
    #[validation(minimum = 1)]
    pub weight: i32,
    #[serde(default)]
    pub selector: BTreeMap<String, String>,
}

/// BalancerPort maps a public port to a container port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BalancerPort {
    /// Name of the port, unique within the balancer.
    /// It may be left out when there is a single port.
    #[serde(default)]
    #[schema(required)]
    pub name: String,
    #[serde(default)]
    #[schema(optional)]
    pub protocol: Protocol,
    /// The public port.
    pub port: Port,
    /// The container port.
    #[serde(default)]
    #[schema(optional)]
    pub target_port: IntOrString,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Protocol(pub String);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Port(pub i32);

/// BalancerStatus counts backends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BalancerStatus {
    #[serde(default)]
    #[schema(optional)]
    pub active_backends_num: i32,
    #[serde(default)]
    #[schema(optional)]
    pub obsolete_backends_num: i32,
}
