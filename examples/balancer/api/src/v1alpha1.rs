//! Version `v1alpha1` of group `exposer.hliangzhao.io`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Label that every child of a Balancer carries; its value is the Balancer's name.
pub const BALANCER_NAME_LABEL: &str = "balancer.exposer.hliangzhao.io/balancer-name";

/// Annotation of the proxy's pod template: the hash of the configuration that it runs with.
pub const CONFIGMAP_HASH_ANNOTATION: &str = "balancer.exposer.hliangzhao.io/configmap-hash";

/// Balancer splits traffic over weighted backends.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "exposer.hliangzhao.io", version = "v1alpha1", kind = "Balancer", status)]
#[genclient]
#[deepcopy]
pub struct Balancer {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub spec: BalancerSpec,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub status: BalancerStatus,
}

/// BalancerSpec says where traffic goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BalancerSpec {
    /// The weighted targets; at least one.
    #[validation(min_items = 1)]
    pub backends: Vec<BackendSpec>,
    /// Labels that the pods of every backend have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub selector: BTreeMap<String, String>,
    /// The ports that clients connect to.
    pub ports: Vec<BalancerPort>,
}

/// BackendSpec is one weighted target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct BackendSpec {
    /// Name of the backend, unique within the balancer.
    #[validation(min_length = 1)]
    pub name: String,
    /// Share of the traffic, relative to the other backends' weights.
    #[validation(minimum = 1)]
    pub weight: i32,
    /// Labels of this backend's pods, beside the balancer's own selector.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub selector: BTreeMap<String, String>,
}

/// BalancerPort maps a public port to a container port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BalancerPort {
    /// Name of the port, unique within the balancer.
    #[validation(required)]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// TCP or UDP; TCP when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The public port.
    pub port: Port,
    /// The container port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_port: Option<IntOrString>,
}

/// A transport protocol: `TCP` or `UDP`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(transparent)]
pub struct Protocol(pub String);

impl Protocol {
    /// Transmission control protocol.
    pub const TCP: &'static str = "TCP";
    /// User datagram protocol.
    pub const UDP: &'static str = "UDP";
}

/// A port number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(transparent)]
pub struct Port(pub i32);

/// BalancerStatus counts backends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase", default)]
pub struct BalancerStatus {
    /// Backends that have a Service and take traffic.
    pub active_backends_num: i32,
    /// Services of backends that are no longer listed.
    pub obsolete_backends_num: i32,
}
