//! Version `v1alpha1` of group `samplecontroller.k8s.io`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Foo asks for a Deployment of nginx.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "samplecontroller.k8s.io",
    version = "v1alpha1",
    kind = "Foo",
    status,
    // Groups under k8s.io need somebody's approval, or to say that they have none.
    api_approved = "unapproved, an example that is not to be served in production",
    print_column(name = "Deployment", json_path = ".spec.deploymentName"),
    print_column(name = "Desired", json_path = ".spec.replicas"),
    print_column(name = "Available", json_path = ".status.availableReplicas"),
    print_column(name = "Age", json_path = ".metadata.creationTimestamp")
)]
#[genclient]
#[deepcopy]
#[validation(rule(
    rule = "size(self.metadata.name) <= 63",
    message = "the name becomes a label's value, which may have 63 characters"
))]
pub struct Foo {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    pub spec: FooSpec,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<FooStatus>,
}

/// FooSpec says which Deployment there is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FooSpec {
    /// Name of the Deployment, in the Foo's namespace.
    // ReplicaSets have 11 characters more in their names, of which there may be 253.
    #[validation(
        min_length = 1,
        max_length = 242,
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
    )]
    pub deployment_name: String,
    /// How many pods there are to be; left to whoever scales the Deployment when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[validation(minimum = 1, maximum = 10)]
    pub replicas: Option<i32>,
}

/// FooStatus says what there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct FooStatus {
    /// How many pods of the Deployment are available.
    pub available_replicas: i32,
}
