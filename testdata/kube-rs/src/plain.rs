//! Kinds with nothing special about them.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Minimal")]
pub struct MinimalSpec {}

/// What a greeting is to say.
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Greeting", namespaced)]
pub struct GreetingSpec {
    /// Whom to greet.
    pub name: String,
    /// How often.
    pub times: i32,
    pub loud: bool,
    pub letter: char,
    pub weight: f64,
}

/// Fields in camel case, some of them optional.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1alpha1", kind = "Optional", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct OptionalSpec {
    pub always_there: String,
    pub maybe_there: Option<String>,
    pub maybe_number: Option<i64>,
    pub maybe_flag: Option<bool>,
    /// A nested one.
    pub maybe_nested: Option<Nested>,
    pub nested: Nested,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// A type of its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nested {
    pub first_value: String,
    /// The second has words of its own.
    pub second_value: Option<String>,
    pub deeper: Deeper,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Deeper {
    pub leaf: u8,
}

/// A spec with a status.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "plain.example.com",
    version = "v1beta2",
    kind = "WithStatus",
    status = "WithStatusStatus",
    namespaced
)]
pub struct WithStatusSpec {
    pub size: u32,
}

/// What was seen.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithStatusStatus {
    pub ready: bool,
    /// The generation that was looked at.
    pub observed_generation: Option<i64>,
    pub messages: Vec<String>,
}

/// The same field types by their long names.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "LongNames")]
pub struct LongNamesSpec {
    pub text: std::string::String,
    pub maybe: std::option::Option<std::string::String>,
    pub list: std::vec::Vec<i32>,
    pub map: std::collections::BTreeMap<String, String>,
    pub nested: self::Nested,
    pub absolute: crate::plain::Deeper,
    pub core: core::option::Option<u8>,
    pub raw: r#Nested,
}

/// Names that are keywords.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Keywords")]
pub struct KeywordsSpec {
    pub r#type: String,
    pub r#match: Option<String>,
    pub r#fn: bool,
    pub type_: i32,
}

/// A spec that is a newtype of another struct.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Newtype")]
pub struct NewtypeSpec(pub Nested);

/// Newtypes of everything.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "ManyNewtypes")]
#[serde(rename_all = "camelCase")]
pub struct ManyNewtypesSpec {
    pub name: Name,
    pub maybe_name: Option<Name>,
    /// The field says more than the type.
    pub described: Name,
    pub port: Port,
    pub names: Names,
    pub undocumented: Undocumented,
    pub double: Double,
}

/// A name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
pub struct Name(pub String);

/// A port number.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Port(u16);

/// Several names.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Names(pub Vec<Name>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Undocumented(Name);

/// A name in a name.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Double(Undocumented);

/// Types declared in modules, used by paths and imports.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Imported")]
pub struct ImportedSpec {
    pub by_path: parts::Wheel,
    pub by_use: Axle,
    pub renamed: Hub,
    pub by_glob: Spoke,
    pub from_super: parts::inner::Rim,
}

use parts::globs::*;
use parts::{Axle, Nave as Hub};

pub mod parts {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    /// A wheel.
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Wheel {
        pub radius: f32,
        pub axle: Option<Axle>,
    }

    /// An axle.
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Axle {
        pub length: i32,
    }

    /// A nave.
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Nave {
        pub bore: u8,
    }

    pub mod inner {
        use super::{Deserialize, JsonSchema, Serialize};

        /// A rim.
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Rim {
            pub wheel: super::Wheel,
        }
    }

    pub mod globs {
        /// A spoke, with its derives by their paths.
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        pub struct Spoke {
            pub number: usize,
        }
    }
}

/// Private fields and types are no less in the schema.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Private")]
#[allow(dead_code)]
pub struct PrivateSpec {
    secret: String,
    pub(crate) inside: PrivatePart,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct PrivatePart {
    #[allow(dead_code)]
    value: i16,
}

/// The derive by its path.
#[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, Debug, Clone, schemars::JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Pathed", namespaced)]
pub struct PathedSpec {
    pub info: String,
}

/// Structs without fields.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "plain.example.com", version = "v1", kind = "Empties")]
pub struct EmptiesSpec {
    pub empty: Empty,
    pub maybe_empty: Option<Empty>,
    pub list: Vec<Empty>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Empty {}
