//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct DNS {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: DNSSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct DNSSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Ingress {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: IngressSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct IngressSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Endpoints {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: EndpointsSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointsSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Kubernetes {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: KubernetesSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Redis {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RedisSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct RedisSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Kafka {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: KafkaSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct KafkaSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct NetworkPolicy {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: NetworkPolicySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct IPAddress {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: IPAddressSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct IPAddressSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct APIKey {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: APIKeySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct APIKeySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Metadata {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: MetadataSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Settings {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: SettingsSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Canary {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CanarySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CanarySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct BackupSchedule {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BackupScheduleSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BackupScheduleSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Chassis {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ChassisSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ChassisSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct DataBase64 {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: DataBase64Spec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct DataBase64Spec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Cache {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CacheSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CacheSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Patch {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PatchSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PatchSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Mesh {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: MeshSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct MeshSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Topology {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: TopologySpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TopologySpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Bonus {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BonusSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BonusSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Virus {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: VirusSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct VirusSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Prometheus {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PrometheusSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Alias {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: AliasSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct AliasSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Lens {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: LensSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct LensSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Human {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: HumanSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HumanSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Quota {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: QuotaSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Media {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: MediaSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct MediaSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Criterion {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: CriterionSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Vertex {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: VertexSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct VertexSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Potato {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: PotatoSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PotatoSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Foot {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: FootSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FootSpec {
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "plural.conformance.dev", version = "v1")]
pub struct Half {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: HalfSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct HalfSpec {
}
