//! Types of Kubernetes within a spec.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscalerBehavior;
use k8s_openapi::api::core::v1 as corev1;
use k8s_openapi::api::core::v1::{
    Affinity, ConfigMapKeySelector, Container, EnvFromSource, EnvVar, LocalObjectReference, ObjectReference,
    PersistentVolumeClaimSpec, Probe, ResourceRequirements, SecretKeySelector, SecurityContext, Toleration,
    TopologySpreadConstraint, TypedLocalObjectReference,
};
use k8s_openapi::api::networking::v1::{IngressTLS, NetworkPolicyPort};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    Condition, LabelSelector, LabelSelectorRequirement, ListMeta, MicroTime, OwnerReference, Time,
};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The small ones.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Scalars")]
#[serde(rename_all = "camelCase")]
pub struct ScalarsSpec {
    pub quantity: Quantity,
    pub maybe_quantity: Option<Quantity>,
    /// So much.
    pub described_quantity: Quantity,
    /// So much, perhaps.
    pub maybe_described_quantity: Option<Quantity>,
    pub quantities: BTreeMap<String, Quantity>,
    pub quantity_list: Vec<Quantity>,
    pub maybe_quantities: Option<BTreeMap<String, Quantity>>,
    pub port: IntOrString,
    pub maybe_port: Option<IntOrString>,
    pub ports: Vec<IntOrString>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional_port: Option<IntOrString>,
    pub time: Time,
    pub maybe_time: Option<Time>,
    /// When it was.
    pub described_time: Time,
    pub micro_time: MicroTime,
    #[schemars(with = "String", extend("format" = "byte"))]
    pub bytes: ByteString,
}

/// References and selectors.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "References")]
#[serde(rename_all = "camelCase")]
pub struct ReferencesSpec {
    pub selector: LabelSelector,
    pub maybe_selector: Option<LabelSelector>,
    pub requirements: Vec<LabelSelectorRequirement>,
    pub object: ObjectReference,
    pub local: LocalObjectReference,
    pub locals: Option<Vec<LocalObjectReference>>,
    pub typed: TypedLocalObjectReference,
    pub secret_key: SecretKeySelector,
    pub config_key: Option<ConfigMapKeySelector>,
    pub owners: Vec<OwnerReference>,
    /// The field has words.
    pub described: SecretKeySelector,
    pub by_alias: corev1::SecretReference,
    pub by_path: k8s_openapi::api::core::v1::ServicePort,
}

/// Conditions, as most operators have them.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Conditions", status = "ConditionsStatus")]
pub struct ConditionsSpec {}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConditionsStatus {
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_conditions: Vec<Condition>,
    pub last: Option<Condition>,
}

/// What a container needs.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "ContainerParts")]
#[serde(rename_all = "camelCase")]
pub struct ContainerPartsSpec {
    pub resources: ResourceRequirements,
    #[serde(default)]
    pub maybe_resources: Option<ResourceRequirements>,
    pub env: Vec<EnvVar>,
    pub env_from: Option<Vec<EnvFromSource>>,
    pub probe: Option<Probe>,
    pub security_context: Option<SecurityContext>,
    #[serde(default)]
    pub default_resources: ResourceRequirements,
}

/// How pods are placed.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Placement")]
#[serde(rename_all = "camelCase")]
pub struct PlacementSpec {
    pub affinity: Option<Affinity>,
    pub tolerations: Vec<Toleration>,
    #[serde(default)]
    pub node_selector: BTreeMap<String, String>,
    pub spread: Option<Vec<TopologySpreadConstraint>>,
}

/// A whole container.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "WholeContainer")]
pub struct WholeContainerSpec {
    pub container: Container,
}

/// A whole pod.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "WholePod")]
pub struct WholePodSpec {
    pub template: Option<corev1::PodTemplateSpec>,
    #[serde(default)]
    pub pod: Option<corev1::PodSpec>,
}

/// Metadata within a spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Metadata")]
#[serde(rename_all = "camelCase")]
pub struct MetadataSpec {
    pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    pub through_kube: Option<kube::core::ObjectMeta>,
    pub list: ListMeta,
}

/// Anything at all.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Untyped")]
#[serde(rename_all = "camelCase")]
pub struct UntypedSpec {
    pub raw: RawExtension,
    pub maybe_raw: Option<RawExtension>,
    pub map: serde_json::Map<String, serde_json::Value>,
    pub maybe_map: Option<serde_json::Map<String, serde_json::Value>>,
    pub values: BTreeMap<String, serde_json::Value>,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub value: serde_json::Value,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub maybe_value: Option<serde_json::Value>,
    pub number: serde_json::Number,
}

/// Whole objects of Kubernetes.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Objects")]
#[serde(rename_all = "camelCase")]
pub struct ObjectsSpec {
    pub config: corev1::ConfigMap,
    pub service: Option<corev1::ServiceSpec>,
    pub claim: PersistentVolumeClaimSpec,
    pub claim_template: corev1::PersistentVolumeClaim,
    pub rules: Vec<PolicyRule>,
    pub tls: Vec<IngressTLS>,
    pub ports: Vec<NetworkPolicyPort>,
    pub behavior: Option<HorizontalPodAutoscalerBehavior>,
    pub volumes: Vec<corev1::Volume>,
    pub mounts: Vec<corev1::VolumeMount>,
    pub pull_policy: Option<String>,
    pub job: Option<k8s_openapi::api::batch::v1::JobSpec>,
    pub strategy: Option<k8s_openapi::api::apps::v1::DeploymentStrategy>,
}

/// Types of Kubernetes, flattened, wrapped and with constraints.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Wrapped")]
#[serde(rename_all = "camelCase")]
pub struct WrappedSpec {
    #[serde(flatten)]
    pub reference: LocalObjectReference,
    pub own: OwnReference,
    pub memory: Memory,
    pub newtype: Selector,
    #[schemars(length(min = 1))]
    pub env: Vec<EnvVar>,
    #[schemars(with = "String")]
    pub quantity_as_text: Quantity,
    #[schemars(with = "Option<Quantity>")]
    pub text_as_quantity: String,
    #[schemars(description = "A port.")]
    pub port: IntOrString,
    #[schemars(required)]
    pub required: Option<Quantity>,
    #[serde(default = "default_memory")]
    pub defaulted: Quantity,
}

fn default_memory() -> Quantity {
    Quantity("128Mi".to_string())
}

/// A reference with more.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct OwnReference {
    #[serde(flatten)]
    pub key: SecretKeySelector,
    pub version: Option<String>,
}

/// An amount of memory.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Memory(pub Quantity);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Selector {
    pub inner: LabelSelector,
}
