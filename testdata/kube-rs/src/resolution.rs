//! Names that have to be followed: renamed crates and derives, re-exports, files of their own, several roots in one
//! file.

mod hidden;
#[path = "resolution/another_file.rs"]
pub mod other;
pub mod prelude;

use k8s_openapi as k8s;
use kube::CustomResource as Derive;
use schemars::{self, JsonSchema as Schema};
use serde::{self as s, Deserialize as De, Serialize as Ser};

use self::hidden::Exported;
pub use self::hidden::{Exported as Again, deeper};
use self::prelude::*;
use super::resolution::other::Level::{self, *};

/// Derives by other names.
#[derive(Derive, Clone, Debug, De, Ser, Schema)]
#[kube(group = "resolution.example.com", version = "v1", kind = "RenamedDerives")]
pub struct RenamedDerivesSpec {
    pub value: k8s::apimachinery::pkg::api::resource::Quantity,
    pub own: Exported,
}

/// Types by many ways.
#[derive(kube::CustomResource, Clone, Debug, s::Deserialize, s::Serialize, schemars::JsonSchema)]
#[kube(group = "resolution.example.com", version = "v1", kind = "Ways")]
#[serde(rename_all = "camelCase")]
pub struct WaysSpec {
    pub exported: Exported,
    pub again: Again,
    pub by_crate: crate::resolution::Again,
    pub by_super: super::resolution::deeper::Deep,
    pub by_self: self::deeper::Deep,
    pub from_the_prelude: Preluded,
    pub of_the_prelude: Quantities,
    pub in_another_file: other::Elsewhere,
    pub of_another_module: crate::plain::Nested,
    pub shadowing: Option<Shadow>,
    #[serde(default = "level")]
    pub level: Level,
    #[serde(default = "other::default_level")]
    pub other_level: Level,
    #[serde(default = "deeper::number")]
    pub number: i32,
    #[serde(default = "Exported::text")]
    pub text: std::string::String,
    /// Not the standard library's: the star covers it.
    pub covered: String,
    pub raw: r#struct::r#type,
}

fn level() -> Level {
    High
}

/// Has the name of a type of the prelude's.
#[derive(Clone, Debug, De, Ser, Schema)]
pub struct Shadow {
    pub string: prelude::String,
}

pub mod r#struct {
    use super::{De, Schema, Ser};

    /// A type whose name is a keyword.
    #[derive(Clone, Debug, De, Ser, Schema)]
    #[allow(non_camel_case_types)]
    pub struct r#type {
        pub r#in: i32,
    }
}

pub mod versions {
    //! The same names in several modules.

    pub mod v1 {
        use kube::CustomResource;
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        /// The first.
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "resolution.example.com", version = "v1", kind = "First", root = "Thing")]
        pub struct ThingSpec {
            pub part: Part,
        }

        /// The first part.
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Part {
            pub first: i32,
        }
    }

    pub mod v2 {
        use kube::CustomResource;
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        /// The second.
        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "resolution.example.com", version = "v2", kind = "Second", root = "Thing")]
        pub struct ThingSpec {
            pub part: Part,
            pub old: super::v1::Part,
        }

        /// The second part.
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Part {
            pub second: i32,
        }
    }
}

pub use versions::v1::Thing as FirstThing;
pub use versions::v2::Thing as SecondThing;
