//! Types with parameters, and names for types.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One parameter.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "Wrappers")]
#[serde(rename_all = "camelCase")]
pub struct WrappersSpec {
    pub text: Wrapper<String>,
    pub number: Wrapper<i32>,
    pub part: Wrapper<Part>,
    pub nested: Wrapper<Wrapper<bool>>,
    pub list: Wrapper<Vec<Part>>,
    pub maybe: Option<Wrapper<Option<u8>>>,
    pub option: Wrapper<Option<Part>>,
    pub newtype: Newtype<Part>,
    pub map: BTreeMap<String, Wrapper<f64>>,
}

/// A wrapper.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Wrapper<T> {
    /// What is wrapped.
    pub value: T,
    pub note: Option<String>,
}

/// A newtype of anything.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Newtype<T>(pub T);

/// A part.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Part {
    pub name: String,
}

/// Several parameters, bounds and defaults.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "Parameters")]
#[serde(rename_all = "camelCase")]
pub struct ParametersSpec {
    pub pair: Pair<String, i32>,
    pub defaulted: Pair<Part>,
    pub swapped: Pair<Vec<u8>, Pair<bool, String>>,
    pub bounded: Bounded<i64>,
    pub constrained: Constrained<String>,
    pub three: Sized<String, 3>,
    pub default_size: Sized<Part>,
    pub constant: Sized<u8, SIZE>,
}

pub const SIZE: usize = 5;

/// A pair.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pair<L, R = String> {
    pub the_left: L,
    pub the_right: R,
}

/// With a bound.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Bounded<T: Clone + Default> {
    pub value: T,
}

/// With a where clause.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Constrained<T>
where
    T: Clone + std::fmt::Debug,
{
    pub values: Vec<T>,
}

/// With a length, which serde knows nothing of.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(bound = "T: JsonSchema, [T; N]: JsonSchema")]
pub struct Sized<T, const N: usize = 2> {
    #[schemars(with = "[T; N]")]
    pub values: Vec<T>,
}

/// Parameters that leave no trace.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "Phantoms")]
pub struct PhantomsSpec {
    pub typed: Typed<Part>,
    pub reference: Reference<Part>,
}

/// An identifier of something.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Typed<T> {
    pub id: String,
    #[serde(skip)]
    pub of: PhantomData<T>,
}

/// A reference to something.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent, bound = "")]
#[schemars(bound = "")]
pub struct Reference<T> {
    pub name: String,
    #[serde(skip)]
    pub of: PhantomData<fn() -> T>,
}

/// Names for types.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "Aliases")]
#[serde(rename_all = "camelCase")]
pub struct AliasesSpec {
    pub name: Name,
    pub names: Names,
    pub labels: Labels,
    pub maybe: Maybe<Part>,
    pub lookup: Lookup<Part>,
    pub wrapped: WrappedPart,
    pub maybe_text: MaybeText,
    pub in_module: aliases::Deep,
    pub result: Lookup<Lookup<i32>>,
}

pub type Name = String;
pub type Names = Vec<Name>;
pub type Labels = BTreeMap<String, String>;
pub type Maybe<T> = Option<T>;
pub type Lookup<T> = BTreeMap<Name, T>;
pub type WrappedPart = Wrapper<Part>;
pub type MaybeText = Maybe<String>;

pub mod aliases {
    pub type Deep = Vec<super::WrappedPart>;
}

/// Enums with parameters.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "GenericEnums")]
#[serde(rename_all = "camelCase")]
pub struct GenericEnumsSpec {
    pub text: Source<String>,
    pub part: Source<Part>,
    pub maybe: Option<Source<i32>>,
    pub untagged: Either<Part, Other>,
}

/// Where a value comes from.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Source<T> {
    /// Right here.
    Inline(T),
    From {
        name: String,
        fallback: Option<T>,
    },
}

/// Either of two.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Either<L, R> {
    Left(L),
    Right(R),
}

/// The other part.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Other {
    pub other: u16,
}

/// Parameters in flattened structs and with defaults.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "GenericParts")]
pub struct GenericPartsSpec {
    #[serde(flatten)]
    pub common: Common<Part>,
    #[serde(default)]
    pub wrapped: Wrapper<i32>,
    #[serde(default)]
    pub text: Wrapper<String>,
    pub defaults: WithDefaults<u8>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Common<T> {
    pub common: T,
    pub many: Vec<T>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct WithDefaults<T: Default> {
    pub value: T,
    pub list: Vec<T>,
}

/// Titles and descriptions of generic types.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "generics.example.com", version = "v1", kind = "GenericWords")]
pub struct GenericWordsSpec {
    pub undocumented: Undocumented<Part>,
    /// Words of the field.
    pub described: Undocumented<Part>,
    pub renamed: Renamed<Part>,
    pub lifetime: Borrowing<'static>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Undocumented<T>(pub T);

/// Renamed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "RenamedOf{T}")]
pub struct Renamed<T> {
    pub value: T,
}

/// Borrows what it can.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Borrowing<'a> {
    pub text: std::borrow::Cow<'a, str>,
}
