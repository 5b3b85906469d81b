//! Twin of the Go types of the case.
//! +groupName=bad.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:metadata:annotations="no-equals-sign"
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Bad {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BadSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BadSpec {}
