//! Kinds; their group is named like a generated module.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Spec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// The kind ApplyConfiguration.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct ApplyConfiguration {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind Arc.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct Arc {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind Client.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct Client {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind Clientset.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct Clientset {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind ExtractError.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct ExtractError {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind Foo.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct Foo {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind FooFrom.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct FooFrom {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind Mod.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct Mod {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind NamespacedFoo.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct NamespacedFoo {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind PatchParam.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct PatchParam {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind RestClient.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct RestClient {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind SharedInformerFactory.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct SharedInformerFactory {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind Type.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct Type {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// The kind V1.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "generic.example.com", version = "v1")]
#[genclient]
pub struct V1 {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: Spec,
}

/// Kinds that Rust's prelude has too.
pub mod prelude {
    use super::{ObjectMeta, Resource, Spec};

    /// The kind Box.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "generic.example.com", version = "v1", kind = "Box")]
    #[genclient]
    pub struct MyBox {
        /// Standard metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: Spec,
    }

    /// The kind Option.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "generic.example.com", version = "v1", kind = "Option")]
    #[genclient]
    pub struct MyOption {
        /// Standard metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: Spec,
    }

    /// The kind Result.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "generic.example.com", version = "v1", kind = "Result")]
    #[genclient]
    pub struct MyResult {
        /// Standard metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: Spec,
    }

    /// The kind Send.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "generic.example.com", version = "v1", kind = "Send")]
    #[genclient]
    pub struct MySend {
        /// Standard metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: Spec,
    }

    /// The kind String.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "generic.example.com", version = "v1", kind = "String")]
    #[genclient]
    pub struct MyString {
        /// Standard metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: Spec,
    }

    /// The kind Vec.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "generic.example.com", version = "v1", kind = "Vec")]
    #[genclient]
    pub struct MyVec {
        /// Standard metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: Spec,
    }
}
