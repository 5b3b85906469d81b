//! k8s-openapi's types: their schemas are built into the binary through schemars and made structural on demand.

use std::collections::HashSet;

use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::autoscaling::v2 as autoscaling;
use k8s_openapi::api::batch::v1 as batch;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::networking::v1 as networking;
use k8s_openapi::api::policy::v1 as policy;
use k8s_openapi::api::rbac::v1 as rbac;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::schemars::generate::SchemaSettings;
use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::kubernetes;
use crate::schema::Schema;

/// Prefix of schemars' references to its definitions.
const REFERENCE: &str = "#/$defs/";

/// Makes a type's schema, its definitions included.
pub(super) type Generator = fn() -> Value;

macro_rules! table {
    ($($prefix:literal $module:ident: $($name:ident),*;)*) => {
        /// Types by their path.
        pub(super) const TABLE: &[(&str, Generator)] =
            &[$($((concat!($prefix, "::", stringify!($name)), generate::<$module::$name>),)*)*];
    };
}

#[rustfmt::skip]
table! {
    "k8s_openapi::api::core::v1" core:
        AWSElasticBlockStoreVolumeSource, Affinity, AppArmorProfile, AttachedVolume, AzureDiskVolumeSource,
        AzureFilePersistentVolumeSource, AzureFileVolumeSource, Binding, CSIPersistentVolumeSource,
        CSIVolumeSource, Capabilities, CephFSPersistentVolumeSource, CephFSVolumeSource,
        CinderPersistentVolumeSource, CinderVolumeSource, ClientIPConfig, ClusterTrustBundleProjection,
        ComponentCondition, ComponentStatus, ConfigMap, ConfigMapEnvSource, ConfigMapKeySelector,
        ConfigMapNodeConfigSource, ConfigMapProjection, ConfigMapVolumeSource, Container,
        ContainerExtendedResourceRequest, ContainerImage, ContainerPort, ContainerResizePolicy,
        ContainerRestartRule, ContainerRestartRuleOnExitCodes, ContainerState, ContainerStateRunning,
        ContainerStateTerminated, ContainerStateWaiting, ContainerStatus, ContainerUser, DaemonEndpoint,
        DownwardAPIProjection, DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource,
        EndpointAddress, EndpointPort, EndpointSubset, Endpoints, EnvFromSource, EnvVar, EnvVarSource,
        EphemeralContainer, EphemeralVolumeSource, Event, EventSeries, EventSource, ExecAction,
        FCVolumeSource, FileKeySelector, FlexPersistentVolumeSource, FlexVolumeSource, FlockerVolumeSource,
        GCEPersistentDiskVolumeSource, GRPCAction, GitRepoVolumeSource, GlusterfsPersistentVolumeSource,
        GlusterfsVolumeSource, HTTPGetAction, HTTPHeader, HostAlias, HostIP, HostPathVolumeSource,
        ISCSIPersistentVolumeSource, ISCSIVolumeSource, ImageVolumeSource, ImageVolumeStatus, KeyToPath,
        Lifecycle, LifecycleHandler, LimitRange, LimitRangeItem, LimitRangeSpec, LinuxContainerUser,
        LoadBalancerIngress, LoadBalancerStatus, LocalObjectReference, LocalVolumeSource,
        ModifyVolumeStatus, NFSVolumeSource, Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus,
        Node, NodeAddress, NodeAffinity, NodeAllocatableResourceClaimStatus, NodeCondition,
        NodeConfigSource, NodeConfigStatus, NodeDaemonEndpoints, NodeFeatures, NodeRuntimeHandler,
        NodeRuntimeHandlerFeatures, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, NodeSpec,
        NodeStatus, NodeSwapStatus, NodeSystemInfo, ObjectFieldSelector, ObjectReference, PersistentVolume,
        PersistentVolumeClaim, PersistentVolumeClaimCondition, PersistentVolumeClaimSpec,
        PersistentVolumeClaimStatus, PersistentVolumeClaimTemplate, PersistentVolumeClaimVolumeSource,
        PersistentVolumeSpec, PersistentVolumeStatus, PhotonPersistentDiskVolumeSource, Pod, PodAffinity,
        PodAffinityTerm, PodAntiAffinity, PodCertificateProjection, PodCondition, PodDNSConfig,
        PodDNSConfigOption, PodExtendedResourceClaimStatus, PodIP, PodOS, PodReadinessGate,
        PodResourceClaim, PodResourceClaimStatus, PodSchedulingGate, PodSchedulingGroup, PodSecurityContext,
        PodSpec, PodStatus, PodTemplate, PodTemplateSpec, PortStatus, PortworxVolumeSource,
        PreferredSchedulingTerm, Probe, ProjectedVolumeSource, QuobyteVolumeSource,
        RBDPersistentVolumeSource, RBDVolumeSource, ReplicationController, ReplicationControllerCondition,
        ReplicationControllerSpec, ReplicationControllerStatus, ResourceClaim, ResourceFieldSelector,
        ResourceHealth, ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, ResourceRequirements,
        ResourceStatus, SELinuxOptions, ScaleIOPersistentVolumeSource, ScaleIOVolumeSource, ScopeSelector,
        ScopedResourceSelectorRequirement, SeccompProfile, Secret, SecretEnvSource, SecretKeySelector,
        SecretProjection, SecretReference, SecretVolumeSource, SecurityContext, Service, ServiceAccount,
        ServiceAccountTokenProjection, ServicePort, ServiceSpec, ServiceStatus, SessionAffinityConfig,
        SleepAction, StorageOSPersistentVolumeSource, StorageOSVolumeSource, Sysctl, TCPSocketAction, Taint,
        Toleration, TopologySelectorLabelRequirement, TopologySelectorTerm, TopologySpreadConstraint,
        TypedLocalObjectReference, TypedObjectReference, Volume, VolumeDevice, VolumeMount,
        VolumeMountStatus, VolumeNodeAffinity, VolumeProjection, VolumeResourceRequirements, VolumeStatus,
        VsphereVirtualDiskVolumeSource, WeightedPodAffinityTerm, WindowsSecurityContextOptions;
    "k8s_openapi::api::apps::v1" apps:
        ControllerRevision, DaemonSet, DaemonSetCondition, DaemonSetSpec, DaemonSetStatus,
        DaemonSetUpdateStrategy, Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus,
        DeploymentStrategy, ReplicaSet, ReplicaSetCondition, ReplicaSetSpec, ReplicaSetStatus,
        RollingUpdateDaemonSet, RollingUpdateDeployment, RollingUpdateStatefulSetStrategy, StatefulSet,
        StatefulSetCondition, StatefulSetOrdinals, StatefulSetPersistentVolumeClaimRetentionPolicy,
        StatefulSetSpec, StatefulSetStatus, StatefulSetUpdateStrategy;
    "k8s_openapi::api::batch::v1" batch:
        CronJob, CronJobSpec, CronJobStatus, Job, JobCondition, JobSpec, JobStatus, JobTemplateSpec,
        PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnPodConditionsPattern,
        PodFailurePolicyRule, SuccessPolicy, SuccessPolicyRule, UncountedTerminatedPods;
    "k8s_openapi::api::networking::v1" networking:
        HTTPIngressPath, HTTPIngressRuleValue, IPAddress, IPAddressSpec, IPBlock, Ingress, IngressBackend,
        IngressClass, IngressClassParametersReference, IngressClassSpec, IngressLoadBalancerIngress,
        IngressLoadBalancerStatus, IngressPortStatus, IngressRule, IngressServiceBackend, IngressSpec,
        IngressStatus, IngressTLS, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule,
        NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec, ParentReference, ServiceBackendPort,
        ServiceCIDR, ServiceCIDRSpec, ServiceCIDRStatus;
    "k8s_openapi::api::rbac::v1" rbac:
        AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject;
    "k8s_openapi::api::autoscaling::v2" autoscaling:
        ContainerResourceMetricSource, ContainerResourceMetricStatus, CrossVersionObjectReference,
        ExternalMetricSource, ExternalMetricStatus, HPAScalingPolicy, HPAScalingRules,
        HorizontalPodAutoscaler, HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerCondition,
        HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus, MetricIdentifier, MetricSpec,
        MetricStatus, MetricTarget, MetricValueStatus, ObjectMetricSource, ObjectMetricStatus,
        PodsMetricSource, PodsMetricStatus, ResourceMetricSource, ResourceMetricStatus;
    "k8s_openapi::api::policy::v1" policy:
        Eviction, PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus;
    "k8s_openapi::apimachinery::pkg::apis::meta::v1" meta:
        APIGroup, APIResource, APIVersions, Condition, FieldSelectorRequirement, GroupResource,
        GroupVersionForDiscovery, LabelSelector, LabelSelectorRequirement, ListMeta, ManagedFieldsEntry, OwnerReference, Preconditions,
        ServerAddressByClientCIDR, ShardInfo, Status, StatusCause, StatusDetails;
}

fn generate<T: JsonSchema>() -> Value {
    let generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    serde_json::to_value(generator.into_root_schema_for::<T>()).unwrap_or(Value::Null)
}

/// The generator of a type, by its path.
pub(super) fn generator(path: &str) -> Option<Generator> {
    TABLE.iter().find(|(known, _)| *known == path).map(|(_, generator)| *generator)
}

/// Every path of the table.
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(path, _)| *path)
}

/// A type's name in OpenAPI by its path: `io.k8s.api.core.v1.Pod`.
pub(super) fn openapi_name(path: &str) -> String {
    path.replacen("k8s_openapi::", "io.k8s.", 1).replace("::", ".")
}

/// Turns what schemars made of a type into a structural schema.
pub(super) fn convert(path: &str, generator: Generator, embedded_object_meta: bool) -> Schema {
    let root = generator();
    let definitions = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut inliner = Inliner { definitions: &definitions, embedded_object_meta, open: HashSet::new() };
    let mut schema = match &root {
        Value::Object(object) => object.clone(),
        _ => Map::new(),
    };
    for key in ["$defs", "$schema", "title"] {
        schema.remove(key);
    }
    kubernetes::apply(&openapi_name(path), &mut schema);
    let value = inliner.object(schema);
    serde_json::from_value(value).unwrap_or_default()
}

/// Replaces references by what they refer to; known types get their better schemas.
struct Inliner<'a> {
    definitions: &'a Map<String, Value>,
    embedded_object_meta: bool,
    /// Definitions being written; a reference to one of them is a cycle.
    open: HashSet<String>,
}

impl Inliner<'_> {
    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            other => other,
        }
    }

    fn object(&mut self, mut object: Map<String, Value>) -> Value {
        let reference = match object.get("$ref") {
            Some(Value::String(reference)) => reference.strip_prefix(REFERENCE).map(str::to_string),
            _ => None,
        };
        let Some(name) = reference else {
            return Value::Object(object.into_iter().map(|(key, value)| (key, self.value(value))).collect());
        };
        object.remove("$ref");
        let mut target = self.definition(&name);
        if let Value::Object(target) = &mut target {
            target.extend(object);
        }
        target
    }

    fn definition(&mut self, name: &str) -> Value {
        if let Some(schema) = better(name, self.embedded_object_meta) {
            return schema.to_value();
        }
        if !self.open.insert(name.to_string()) {
            // JSON schemas contain themselves; structural schemas cannot.
            return serde_json::json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        }
        let mut value = self.definitions.get(name).cloned().unwrap_or(Value::Null);
        if let Value::Object(schema) = &mut value {
            kubernetes::apply(name, schema);
        }
        let out = self.value(value);
        self.open.remove(name);
        out
    }
}

/// The schema that controller-gen writes for a type, where Kubernetes' OpenAPI document says less.
fn better(name: &str, embedded_object_meta: bool) -> Option<Schema> {
    let path = format!("k8s_openapi::{}", name.strip_prefix("io.k8s.")?.replace(['.', '-'], "::"));
    if super::is_object_meta(&path) {
        return super::schema_with(&path, embedded_object_meta);
    }
    super::PLAIN.iter().find(|(known, _)| *known == path).map(|(_, make)| make())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_entry_makes_a_structural_schema() {
        for (path, generator) in TABLE {
            let mut schema = convert(path, *generator, false);
            assert!(!schema.is_empty(), "{path}");
            let text = schema.to_value().to_string();
            assert!(!text.contains("$ref") && !text.contains("$defs"), "{path}");
            schema.walk_mut(&mut |schema| {
                let typed = schema.type_.is_some() || schema.int_or_string || schema.preserve_unknown_fields;
                // Branches of anyOf carry no type of their own beyond that of their parent.
                assert!(typed, "{path}: {schema:?}");
            });
        }
    }

    #[test]
    fn nested_known_types_have_their_better_schemas() {
        let schema = |path: &str| convert(path, generator(path).unwrap(), false);
        let template = schema("k8s_openapi::api::core::v1::PodTemplateSpec");
        assert_eq!(template.properties["metadata"].properties.len(), 0);
        assert_eq!(template.properties["metadata"].type_.as_deref(), Some("object"));
        let resources = schema("k8s_openapi::api::core::v1::ResourceRequirements");
        let text = resources.to_value().to_string();
        assert!(text.contains("x-kubernetes-int-or-string") && text.contains("pattern"), "{text}");
    }
}
