//! A type that is described by markers alone.
//! +groupName=markers.example.com

/// Types in a module that is called like a version.
mod v1beta1 {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubesmith_runtime::{Resource, Schema};
    use serde::{Deserialize, Serialize};

    /// +kubebuilder:object:root=true
    /// +kubebuilder:subresource:status
    /// +kubebuilder:resource:path=axes,shortName=ax,scope=Cluster
    /// +genclient
    /// +genclient:nonNamespaced
    #[derive(Clone, Debug, Default, Resource)]
    pub(super) struct Axe {
        pub metadata: ObjectMeta,
        pub spec: AxeSpec,
        #[serde(default)]
        pub status: AxeStatus,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub(super) struct AxeSpec {
        /// +kubebuilder:validation:Minimum=1
        pub length: i32,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub(super) struct AxeStatus {}
}

use kubesmith_runtime::api::{Object, ResourceInfo, Scope};
use v1beta1::Axe;

#[test]
fn markers_have_the_effect_of_attributes() {
    assert_eq!(Axe::API_VERSION, "markers.example.com/v1beta1");
    assert_eq!((Axe::PLURAL, Axe::SHORT_NAMES), ("axes", ["ax"].as_slice()));
    assert_eq!(Axe::SCOPE, Scope::Cluster);
    const { assert!(Axe::HAS_STATUS) }
    let object: Box<dyn Object> = Box::new(Axe::default());
    assert_eq!(object.group_version_kind().kind, "Axe");
}
