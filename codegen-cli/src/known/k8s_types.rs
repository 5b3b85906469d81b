//! k8s-openapi's types by their paths, which tests compare with the table of versions.
//!
//! Written by hack/kubernetes-types.py from k8s-openapi 0.29, `v1_36`: its `JsonSchema` implementations.

use k8s_openapi::schemars::SchemaGenerator;

/// Makes the schema of a field with a type.
type Make = fn(&mut SchemaGenerator) -> k8s_openapi::schemars::Schema;

/// Types of modules, with their paths.
macro_rules! table {
    ($($module:literal = $($segment:ident)::+: $($name:ident)*;)*) => {
        &[$({
            use $($segment)::+ as module;
            &[$((concat!($module, "::", stringify!($name)), SchemaGenerator::subschema_for::<module::$name>)),*]
        }),*]
    };
}

/// Types by their path, in the order of modules; sorted within each.
#[rustfmt::skip]
pub(super) const TABLE: &[&[(&str, Make)]] = table! {
    "k8s_openapi::api::admissionregistration::v1" = k8s_openapi::api::admissionregistration::v1:
        ApplyConfiguration AuditAnnotation ExpressionWarning JSONPatch MatchCondition MatchResources
        MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingSpec
        MutatingAdmissionPolicySpec MutatingWebhook MutatingWebhookConfiguration Mutation
        NamedRuleWithOperations ParamKind ParamRef RuleWithOperations ServiceReference TypeChecking
        ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec
        ValidatingAdmissionPolicySpec ValidatingAdmissionPolicyStatus ValidatingWebhook
        ValidatingWebhookConfiguration Validation Variable WebhookClientConfig;
    "k8s_openapi::api::admissionregistration::v1alpha1" = k8s_openapi::api::admissionregistration::v1alpha1:
        ApplyConfiguration JSONPatch MatchCondition MatchResources MutatingAdmissionPolicy
        MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingSpec MutatingAdmissionPolicySpec Mutation
        NamedRuleWithOperations ParamKind ParamRef Variable;
    "k8s_openapi::api::admissionregistration::v1beta1" = k8s_openapi::api::admissionregistration::v1beta1:
        ApplyConfiguration JSONPatch MatchCondition MatchResources MutatingAdmissionPolicy
        MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingSpec MutatingAdmissionPolicySpec Mutation
        NamedRuleWithOperations ParamKind ParamRef Variable;
    "k8s_openapi::api::apiserverinternal::v1alpha1" = k8s_openapi::api::apiserverinternal::v1alpha1:
        ServerStorageVersion StorageVersion StorageVersionCondition StorageVersionSpec StorageVersionStatus;
    "k8s_openapi::api::apps::v1" = k8s_openapi::api::apps::v1:
        ControllerRevision DaemonSet DaemonSetCondition DaemonSetSpec DaemonSetStatus DaemonSetUpdateStrategy
        Deployment DeploymentCondition DeploymentSpec DeploymentStatus DeploymentStrategy ReplicaSet
        ReplicaSetCondition ReplicaSetSpec ReplicaSetStatus RollingUpdateDaemonSet RollingUpdateDeployment
        RollingUpdateStatefulSetStrategy StatefulSet StatefulSetCondition StatefulSetOrdinals
        StatefulSetPersistentVolumeClaimRetentionPolicy StatefulSetSpec StatefulSetStatus
        StatefulSetUpdateStrategy;
    "k8s_openapi::api::authentication::v1" = k8s_openapi::api::authentication::v1:
        BoundObjectReference SelfSubjectReview SelfSubjectReviewStatus TokenRequest TokenRequestSpec
        TokenRequestStatus TokenReview TokenReviewSpec TokenReviewStatus UserInfo;
    "k8s_openapi::api::authorization::v1" = k8s_openapi::api::authorization::v1:
        FieldSelectorAttributes LabelSelectorAttributes LocalSubjectAccessReview NonResourceAttributes
        NonResourceRule ResourceAttributes ResourceRule SelfSubjectAccessReview SelfSubjectAccessReviewSpec
        SelfSubjectRulesReview SelfSubjectRulesReviewSpec SubjectAccessReview SubjectAccessReviewSpec
        SubjectAccessReviewStatus SubjectRulesReviewStatus;
    "k8s_openapi::api::autoscaling::v1" = k8s_openapi::api::autoscaling::v1:
        CrossVersionObjectReference HorizontalPodAutoscaler HorizontalPodAutoscalerSpec
        HorizontalPodAutoscalerStatus Scale ScaleSpec ScaleStatus;
    "k8s_openapi::api::autoscaling::v2" = k8s_openapi::api::autoscaling::v2:
        ContainerResourceMetricSource ContainerResourceMetricStatus CrossVersionObjectReference
        ExternalMetricSource ExternalMetricStatus HPAScalingPolicy HPAScalingRules HorizontalPodAutoscaler
        HorizontalPodAutoscalerBehavior HorizontalPodAutoscalerCondition HorizontalPodAutoscalerSpec
        HorizontalPodAutoscalerStatus MetricIdentifier MetricSpec MetricStatus MetricTarget MetricValueStatus
        ObjectMetricSource ObjectMetricStatus PodsMetricSource PodsMetricStatus ResourceMetricSource
        ResourceMetricStatus;
    "k8s_openapi::api::batch::v1" = k8s_openapi::api::batch::v1:
        CronJob CronJobSpec CronJobStatus Job JobCondition JobSpec JobStatus JobTemplateSpec PodFailurePolicy
        PodFailurePolicyOnExitCodesRequirement PodFailurePolicyOnPodConditionsPattern PodFailurePolicyRule
        SuccessPolicy SuccessPolicyRule UncountedTerminatedPods;
    "k8s_openapi::api::certificates::v1" = k8s_openapi::api::certificates::v1:
        CertificateSigningRequest CertificateSigningRequestCondition CertificateSigningRequestSpec
        CertificateSigningRequestStatus;
    "k8s_openapi::api::certificates::v1alpha1" = k8s_openapi::api::certificates::v1alpha1:
        ClusterTrustBundle ClusterTrustBundleSpec;
    "k8s_openapi::api::certificates::v1beta1" = k8s_openapi::api::certificates::v1beta1:
        ClusterTrustBundle ClusterTrustBundleSpec PodCertificateRequest PodCertificateRequestSpec
        PodCertificateRequestStatus;
    "k8s_openapi::api::coordination::v1" = k8s_openapi::api::coordination::v1:
        Lease LeaseSpec;
    "k8s_openapi::api::coordination::v1alpha2" = k8s_openapi::api::coordination::v1alpha2:
        LeaseCandidate LeaseCandidateSpec;
    "k8s_openapi::api::coordination::v1beta1" = k8s_openapi::api::coordination::v1beta1:
        LeaseCandidate LeaseCandidateSpec;
    "k8s_openapi::api::core::v1" = k8s_openapi::api::core::v1:
        AWSElasticBlockStoreVolumeSource Affinity AppArmorProfile AttachedVolume AzureDiskVolumeSource
        AzureFilePersistentVolumeSource AzureFileVolumeSource Binding CSIPersistentVolumeSource
        CSIVolumeSource Capabilities CephFSPersistentVolumeSource CephFSVolumeSource
        CinderPersistentVolumeSource CinderVolumeSource ClientIPConfig ClusterTrustBundleProjection
        ComponentCondition ComponentStatus ConfigMap ConfigMapEnvSource ConfigMapKeySelector
        ConfigMapNodeConfigSource ConfigMapProjection ConfigMapVolumeSource Container
        ContainerExtendedResourceRequest ContainerImage ContainerPort ContainerResizePolicy
        ContainerRestartRule ContainerRestartRuleOnExitCodes ContainerState ContainerStateRunning
        ContainerStateTerminated ContainerStateWaiting ContainerStatus ContainerUser DaemonEndpoint
        DownwardAPIProjection DownwardAPIVolumeFile DownwardAPIVolumeSource EmptyDirVolumeSource
        EndpointAddress EndpointPort EndpointSubset Endpoints EnvFromSource EnvVar EnvVarSource
        EphemeralContainer EphemeralVolumeSource Event EventSeries EventSource ExecAction FCVolumeSource
        FileKeySelector FlexPersistentVolumeSource FlexVolumeSource FlockerVolumeSource
        GCEPersistentDiskVolumeSource GRPCAction GitRepoVolumeSource GlusterfsPersistentVolumeSource
        GlusterfsVolumeSource HTTPGetAction HTTPHeader HostAlias HostIP HostPathVolumeSource
        ISCSIPersistentVolumeSource ISCSIVolumeSource ImageVolumeSource ImageVolumeStatus KeyToPath Lifecycle
        LifecycleHandler LimitRange LimitRangeItem LimitRangeSpec LinuxContainerUser LoadBalancerIngress
        LoadBalancerStatus LocalObjectReference LocalVolumeSource ModifyVolumeStatus NFSVolumeSource Namespace
        NamespaceCondition NamespaceSpec NamespaceStatus Node NodeAddress NodeAffinity
        NodeAllocatableResourceClaimStatus NodeCondition NodeConfigSource NodeConfigStatus NodeDaemonEndpoints
        NodeFeatures NodeRuntimeHandler NodeRuntimeHandlerFeatures NodeSelector NodeSelectorRequirement
        NodeSelectorTerm NodeSpec NodeStatus NodeSwapStatus NodeSystemInfo ObjectFieldSelector ObjectReference
        PersistentVolume PersistentVolumeClaim PersistentVolumeClaimCondition PersistentVolumeClaimSpec
        PersistentVolumeClaimStatus PersistentVolumeClaimTemplate PersistentVolumeClaimVolumeSource
        PersistentVolumeSpec PersistentVolumeStatus PhotonPersistentDiskVolumeSource Pod PodAffinity
        PodAffinityTerm PodAntiAffinity PodCertificateProjection PodCondition PodDNSConfig PodDNSConfigOption
        PodExtendedResourceClaimStatus PodIP PodOS PodReadinessGate PodResourceClaim PodResourceClaimStatus
        PodSchedulingGate PodSchedulingGroup PodSecurityContext PodSpec PodStatus PodTemplate PodTemplateSpec
        PortStatus PortworxVolumeSource PreferredSchedulingTerm Probe ProjectedVolumeSource
        QuobyteVolumeSource RBDPersistentVolumeSource RBDVolumeSource ReplicationController
        ReplicationControllerCondition ReplicationControllerSpec ReplicationControllerStatus ResourceClaim
        ResourceFieldSelector ResourceHealth ResourceQuota ResourceQuotaSpec ResourceQuotaStatus
        ResourceRequirements ResourceStatus SELinuxOptions ScaleIOPersistentVolumeSource ScaleIOVolumeSource
        ScopeSelector ScopedResourceSelectorRequirement SeccompProfile Secret SecretEnvSource
        SecretKeySelector SecretProjection SecretReference SecretVolumeSource SecurityContext Service
        ServiceAccount ServiceAccountTokenProjection ServicePort ServiceSpec ServiceStatus
        SessionAffinityConfig SleepAction StorageOSPersistentVolumeSource StorageOSVolumeSource Sysctl
        TCPSocketAction Taint Toleration TopologySelectorLabelRequirement TopologySelectorTerm
        TopologySpreadConstraint TypedLocalObjectReference TypedObjectReference Volume VolumeDevice
        VolumeMount VolumeMountStatus VolumeNodeAffinity VolumeProjection VolumeResourceRequirements
        VolumeStatus VsphereVirtualDiskVolumeSource WeightedPodAffinityTerm WindowsSecurityContextOptions;
    "k8s_openapi::api::discovery::v1" = k8s_openapi::api::discovery::v1:
        Endpoint EndpointConditions EndpointHints EndpointPort EndpointSlice ForNode ForZone;
    "k8s_openapi::api::events::v1" = k8s_openapi::api::events::v1:
        Event EventSeries;
    "k8s_openapi::api::flowcontrol::v1" = k8s_openapi::api::flowcontrol::v1:
        ExemptPriorityLevelConfiguration FlowDistinguisherMethod FlowSchema FlowSchemaCondition FlowSchemaSpec
        FlowSchemaStatus GroupSubject LimitResponse LimitedPriorityLevelConfiguration NonResourcePolicyRule
        PolicyRulesWithSubjects PriorityLevelConfiguration PriorityLevelConfigurationCondition
        PriorityLevelConfigurationReference PriorityLevelConfigurationSpec PriorityLevelConfigurationStatus
        QueuingConfiguration ResourcePolicyRule ServiceAccountSubject Subject UserSubject;
    "k8s_openapi::api::networking::v1" = k8s_openapi::api::networking::v1:
        HTTPIngressPath HTTPIngressRuleValue IPAddress IPAddressSpec IPBlock Ingress IngressBackend
        IngressClass IngressClassParametersReference IngressClassSpec IngressLoadBalancerIngress
        IngressLoadBalancerStatus IngressPortStatus IngressRule IngressServiceBackend IngressSpec
        IngressStatus IngressTLS NetworkPolicy NetworkPolicyEgressRule NetworkPolicyIngressRule
        NetworkPolicyPeer NetworkPolicyPort NetworkPolicySpec ParentReference ServiceBackendPort ServiceCIDR
        ServiceCIDRSpec ServiceCIDRStatus;
    "k8s_openapi::api::networking::v1beta1" = k8s_openapi::api::networking::v1beta1:
        IPAddress IPAddressSpec ParentReference ServiceCIDR ServiceCIDRSpec ServiceCIDRStatus;
    "k8s_openapi::api::node::v1" = k8s_openapi::api::node::v1:
        Overhead RuntimeClass Scheduling;
    "k8s_openapi::api::policy::v1" = k8s_openapi::api::policy::v1:
        Eviction PodDisruptionBudget PodDisruptionBudgetSpec PodDisruptionBudgetStatus;
    "k8s_openapi::api::rbac::v1" = k8s_openapi::api::rbac::v1:
        AggregationRule ClusterRole ClusterRoleBinding PolicyRule Role RoleBinding RoleRef Subject;
    "k8s_openapi::api::resource::v1" = k8s_openapi::api::resource::v1:
        AllocatedDeviceStatus AllocationResult CELDeviceSelector CapacityRequestPolicy
        CapacityRequestPolicyRange CapacityRequirements Counter CounterSet Device
        DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceCapacity DeviceClaim
        DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec DeviceConstraint
        DeviceCounterConsumption DeviceRequest DeviceRequestAllocationResult DeviceSelector DeviceSubRequest
        DeviceTaint DeviceToleration ExactDeviceRequest NetworkDeviceData NodeAllocatableResourceMapping
        OpaqueDeviceConfiguration ResourceClaim ResourceClaimConsumerReference ResourceClaimSpec
        ResourceClaimStatus ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice
        ResourceSliceSpec;
    "k8s_openapi::api::resource::v1alpha3" = k8s_openapi::api::resource::v1alpha3:
        DeviceTaint DeviceTaintRule DeviceTaintRuleSpec DeviceTaintRuleStatus DeviceTaintSelector PoolStatus
        ResourcePoolStatusRequest ResourcePoolStatusRequestSpec ResourcePoolStatusRequestStatus;
    "k8s_openapi::api::resource::v1beta1" = k8s_openapi::api::resource::v1beta1:
        AllocatedDeviceStatus AllocationResult BasicDevice CELDeviceSelector CapacityRequestPolicy
        CapacityRequestPolicyRange CapacityRequirements Counter CounterSet Device
        DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceCapacity DeviceClaim
        DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec DeviceConstraint
        DeviceCounterConsumption DeviceRequest DeviceRequestAllocationResult DeviceSelector DeviceSubRequest
        DeviceTaint DeviceToleration NetworkDeviceData NodeAllocatableResourceMapping
        OpaqueDeviceConfiguration ResourceClaim ResourceClaimConsumerReference ResourceClaimSpec
        ResourceClaimStatus ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice
        ResourceSliceSpec;
    "k8s_openapi::api::resource::v1beta2" = k8s_openapi::api::resource::v1beta2:
        AllocatedDeviceStatus AllocationResult CELDeviceSelector CapacityRequestPolicy
        CapacityRequestPolicyRange CapacityRequirements Counter CounterSet Device
        DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceCapacity DeviceClaim
        DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec DeviceConstraint
        DeviceCounterConsumption DeviceRequest DeviceRequestAllocationResult DeviceSelector DeviceSubRequest
        DeviceTaint DeviceTaintRule DeviceTaintRuleSpec DeviceTaintRuleStatus DeviceTaintSelector
        DeviceToleration ExactDeviceRequest NetworkDeviceData NodeAllocatableResourceMapping
        OpaqueDeviceConfiguration ResourceClaim ResourceClaimConsumerReference ResourceClaimSpec
        ResourceClaimStatus ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice
        ResourceSliceSpec;
    "k8s_openapi::api::scheduling::v1" = k8s_openapi::api::scheduling::v1:
        PriorityClass;
    "k8s_openapi::api::scheduling::v1alpha2" = k8s_openapi::api::scheduling::v1alpha2:
        BasicSchedulingPolicy GangSchedulingPolicy PodGroup PodGroupResourceClaim PodGroupResourceClaimStatus
        PodGroupSchedulingConstraints PodGroupSchedulingPolicy PodGroupSpec PodGroupStatus PodGroupTemplate
        PodGroupTemplateReference TopologyConstraint TypedLocalObjectReference Workload
        WorkloadPodGroupTemplateReference WorkloadSpec;
    "k8s_openapi::api::storage::v1" = k8s_openapi::api::storage::v1:
        CSIDriver CSIDriverSpec CSINode CSINodeDriver CSINodeSpec CSIStorageCapacity StorageClass TokenRequest
        VolumeAttachment VolumeAttachmentSource VolumeAttachmentSpec VolumeAttachmentStatus
        VolumeAttributesClass VolumeError VolumeNodeResources;
    "k8s_openapi::api::storage::v1beta1" = k8s_openapi::api::storage::v1beta1:
        VolumeAttributesClass;
    "k8s_openapi::api::storagemigration::v1beta1" = k8s_openapi::api::storagemigration::v1beta1:
        StorageVersionMigration StorageVersionMigrationSpec StorageVersionMigrationStatus;
    "k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1" = k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1:
        CustomResourceColumnDefinition CustomResourceConversion CustomResourceDefinition
        CustomResourceDefinitionCondition CustomResourceDefinitionNames CustomResourceDefinitionSpec
        CustomResourceDefinitionStatus CustomResourceDefinitionVersion CustomResourceSubresourceScale
        CustomResourceSubresourceStatus CustomResourceSubresources CustomResourceValidation
        ExternalDocumentation JSON JSONSchemaProps JSONSchemaPropsOrArray JSONSchemaPropsOrBool
        JSONSchemaPropsOrStringArray SelectableField ServiceReference ValidationRule WebhookClientConfig
        WebhookConversion;
    "k8s_openapi::apimachinery::pkg::api::resource" = k8s_openapi::apimachinery::pkg::api::resource:
        Quantity;
    "k8s_openapi::apimachinery::pkg::apis::meta::v1" = k8s_openapi::apimachinery::pkg::apis::meta::v1:
        APIGroup APIGroupList APIResource APIResourceList APIVersions Condition DeleteOptions
        FieldSelectorRequirement FieldsV1 GroupResource GroupVersionForDiscovery LabelSelector
        LabelSelectorRequirement ListMeta ManagedFieldsEntry MicroTime ObjectMeta OwnerReference Patch
        Preconditions ServerAddressByClientCIDR ShardInfo Status StatusCause StatusDetails Time;
    "k8s_openapi::apimachinery::pkg::runtime" = k8s_openapi::apimachinery::pkg::runtime:
        RawExtension;
    "k8s_openapi::apimachinery::pkg::util::intstr" = k8s_openapi::apimachinery::pkg::util::intstr:
        IntOrString;
    "k8s_openapi::apimachinery::pkg::version" = k8s_openapi::apimachinery::pkg::version:
        Info;
    "k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1" = k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1:
        APIService APIServiceCondition APIServiceSpec APIServiceStatus ServiceReference;
};
