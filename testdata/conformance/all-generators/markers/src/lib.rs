//! Package v1 contains API types of the everything.conformance.dev case.
//! +groupName=everything.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

// +kubebuilder:rbac:groups=everything.conformance.dev,resources=kits;kits/status,verbs=get;list;watch;update
// +kubebuilder:webhook:path=/validate-everything-conformance-dev-v1-kit,mutating=false,failurePolicy=fail,sideEffects=None,groups=everything.conformance.dev,resources=kits,verbs=create;update,versions=v1,name=vkit.conformance.dev,admissionReviewVersions=v1

/// Kit is all in one.
/// +kubebuilder:object:root=true
/// +kubebuilder:subresource:status
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Kit {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: KitSpec,
    #[serde(default)]
    pub status: KitStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct KitSpec {
    #[serde(default)]
    pub parts: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct KitStatus {
    #[serde(default)]
    pub built: bool,
}
