//! Twin of the Go types of the case.

use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ObjectReference, SecretKeySelector, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "known.conformance.dev", version = "v1")]
pub struct Bridge {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BridgeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BridgeSpec {
    pub local: LocalObjectReference,
    /// Secret to read.
    pub secret: Option<SecretKeySelector>,
    #[serde(default)]
    pub tolerations: Vec<Toleration>,
    #[serde(default)]
    pub env: Vec<EnvVar>,
    #[serde(default)]
    pub r#ref: ObjectReference,
    /// +kubebuilder:default=IfNotPresent
    /// +kubebuilder:validation:Enum=Always;IfNotPresent
    #[serde(default)]
    pub pull: PullPolicy,
    #[serde(default)]
    pub protocol: Protocol,
    /// +kubebuilder:default=TCP
    #[serde(default)]
    pub proto2: Protocol,
    #[serde(default)]
    pub phase: PodPhase,
}

// Kubernetes' OpenAPI documents, and so k8s-openapi, have strings where Go has these types.

/// PullPolicy describes a policy for if/when to pull a container image
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PullPolicy(pub String);

/// Protocol defines network protocols supported for things like container ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Protocol(pub String);

/// PodPhase is a label for the condition of a pod at the current time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PodPhase(pub String);
