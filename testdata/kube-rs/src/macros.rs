//! Types that macros by example make.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[rustfmt::skip]
#[allow(clippy::all, reason = "random source")]
pub mod corpus;

/// A type beside those that macros make.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Shared {
    /// Its name.
    pub name: String,
}

macro_rules! scopes {
    ($kind:literal, $cluster_kind:literal, $cluster:ident { $(#[$meta:meta])* pub struct $name:ident $body:tt }) => {
        $crate::macros::resource! {
            $cluster_kind, $(#[$meta])* pub struct $cluster { #[serde(flatten)] pub spec: $name }
        }
        $crate::macros::resource! { $kind, #[kube(namespaced)] $(#[$meta])* pub struct $name $body }
    };
}

macro_rules! resource {
    ($kind:literal, $(#[$meta:meta])* pub struct $name:ident $body:tt) => {
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(kind = $kind, group = "macros.example.com", version = "v1", category = "macros")]
        $(#[$meta])*
        pub struct $name $body
    };
}

pub(crate) use resource;

scopes! { "Scoped", "ClusterScoped", ClusterScopedSpec {
    /// One type, two kinds.
    #[serde(rename_all = "camelCase")]
    pub struct ScopedSpec {
        pub base_url: String,
        pub shared: Option<Shared>,
    }
} }

macro_rules! part {
    ($name:ident) => {
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct $name {
            pub value: i32,
        }
    };
}

part!(FromMacro);

/// Types that macros make.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "macros.example.com", version = "v1", kind = "HoldsMade")]
pub struct HoldsMadeSpec {
    pub part: FromMacro,
}
