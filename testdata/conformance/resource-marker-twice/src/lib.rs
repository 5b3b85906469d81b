//! Twin of the Go types of the case.
//! +groupName=res.conformance.dev
//! +versionName=v1

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// +kubebuilder:resource:path=twicers,shortName=tw,categories=all
/// +kubebuilder:resource:scope=Cluster
#[derive(Clone, Debug, Default, PartialEq, Resource)]
pub struct Twice {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: TwiceSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct TwiceSpec {}
