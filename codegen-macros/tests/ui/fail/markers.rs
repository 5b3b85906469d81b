use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use kubesmith_runtime::serde::{Deserialize, Serialize};

/// A kind.
/// +kubebuilder:subresources:status
/// +kubebuilder:resource:scop=Cluster
/// +optional
#[derive(Clone, Debug, Resource)]
#[resource(group = "example.com", version = "v1")]
struct Foo {
    metadata: ObjectMeta,
    spec: FooSpec,
}

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
#[serde(crate = "kubesmith_runtime::serde")]
struct FooSpec {
    /// +kubebuilder:validation:Minimum=many
    #[validation(maximum = 3)]
    /// +kubebuilder:validation:Maximum=3
    size: i32,
    /// +kubebuilder:validation:MinLength=3
    count: i32,
}

fn main() {}
