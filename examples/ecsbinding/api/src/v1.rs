//! Version `v1` of group `hopegi.com`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// hopegi test crd
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "hopegi.com",
    version = "v1",
    kind = "EcsBinding",
    plural = "ecsbinding",
    singular = "ecsbinding",
    short_name = "ecsb",
    scope = "Cluster",
    group_name_in_code = "Ecs",
    informer_group_name = "EcsBind",
    print_column(name = "Age", json_path = ".metadata.creationTimestamp"),
    print_column(name = "NodeName", json_path = ".spec.nodename"),
    print_column(name = "InnerIp", json_path = ".spec.innerip")
)]
#[genclient(non_namespaced)]
#[deepcopy]
pub struct EcsBinding {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub spec: EcsBindingSpec,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub status: EcsBindingStatus,
}

/// EcsBindingSpec names the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[allow(missing_docs, reason = "the published CRD describes no field")]
pub struct EcsBindingSpec {
    pub id: String,
    pub name: String,
    pub nodename: String,
    pub innerip: String,
}

/// EcsBindingStatus has no members yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct EcsBindingStatus {}
