//! Kinds that kube-rs cannot make a CRD of, or whose CRD an API server refuses.

use kube::{CustomResource, CustomResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use kubesmith_kube_compare::Kind;

use super::Fate;

macro_rules! kinds {
    ($($root:ident: $fate:ident,)+) => {
        /// The kinds and what becomes of each.
        pub(super) fn kinds() -> Vec<(Kind, Fate)> {
            vec![$((
                Kind { module: "refused", root: stringify!($root), crd: $root::crd },
                Fate::$fate,
            )),+]
        }
    };
}

kinds! {
    Internal: Panics,
    InternalUnits: Panics,
    Adjacent: Panics,
    Mixed: Panics,
    MixedOptions: Panics,
    Conflicting: Panics,
    UntaggedConflict: Panics,
    UntaggedScalars: Refused,
    UntaggedMixed: Refused,
    UntaggedVariant: Refused,
    FlatTwoEnums: Refused,
    FlatUnits: Refused,
    FlatMap: Refused,
    Tuples: Refused,
    TupleStruct: Refused,
    TupleVariant: Refused,
    UnitStruct: Refused,
    UnitField: Refused,
    Bytes: Panics,
    NumberKeys: Refused,
    Anything: Refused,
    MaybeAnything: Refused,
    WithoutVariants: Refused,
    Described: Refused,
    Disabled: Refused,
    Bound: Panics,
    TitledVariant: Refused,
    TitledUntagged: Refused,
    Exclusive: Panics,
    TimeSpans: Panics,
    DefaultUnderBound: Refused,
    NullDefault: Refused,
    UniqueNulls: Refused,
    MapOfUnits: Refused,
    DocumentedMixed: Panics,
    InternalNewtypes: Panics,
    SameRule: Refused,
    LongPlural: Refused,
    SecondPlace: Refused,
    UnevenLists: Panics,
    LargeDefault: Refused,
    OptionTwice: Refused,
    Recursive: Refused,
    RecursiveList: Refused,
    RenamedConflict: Panics,
    UntaggedUnits: Refused,
    DefaultOfAnother: Refused,
    FlatMapOfParts: Refused,
    PatternKeys: Refused,
}

type Texts = std::collections::BTreeMap<String, String>;

/// Tagged inside.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Internal")]
pub(super) struct InternalSpec {
    source: InternalSource,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
enum InternalSource {
    Git { url: String },
    Image { image: String },
}

/// Units tagged inside.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "InternalUnits")]
pub(super) struct InternalUnitsSpec {
    mode: InternalMode,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "mode")]
enum InternalMode {
    On,
    Off,
}

/// Tagged beside.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Adjacent")]
pub(super) struct AdjacentSpec {
    source: AdjacentSource,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", content = "value")]
enum AdjacentSource {
    Text(String),
    Number(i32),
}

/// Unit variants beside others.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Mixed")]
pub(super) struct MixedSpec {
    choice: MixedChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum MixedChoice {
    Nothing,
    Something { value: i32 },
}

/// Unit variants beside others, absent.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "MixedOptions")]
pub(super) struct MixedOptionsSpec {
    choice: Option<MixedChoice>,
}

/// A flattened enum that describes a field of the struct.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Conflicting")]
pub(super) struct ConflictingSpec {
    value: String,
    #[serde(flatten)]
    choice: ConflictingChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum ConflictingChoice {
    One { value: i32 },
    Two { two: i32 },
}

/// The same field of two types.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UntaggedConflict")]
pub(super) struct UntaggedConflictSpec {
    choice: UntaggedConflictChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum UntaggedConflictChoice {
    One {
        /// One.
        name: String,
    },
    Two {
        /// Two.
        name: String,
    },
}

/// A text or a number.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UntaggedScalars")]
pub(super) struct UntaggedScalarsSpec {
    value: TextOrNumber,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum TextOrNumber {
    Text(String),
    Number(i32),
}

/// A text or an object.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UntaggedMixed")]
pub(super) struct UntaggedMixedSpec {
    value: TextOrObject,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum TextOrObject {
    Text(String),
    Object { name: String },
    List(Vec<String>),
}

/// A variant without a tag.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UntaggedVariant")]
pub(super) struct UntaggedVariantSpec {
    level: OpenLevel,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum OpenLevel {
    Low,
    High,
    #[serde(untagged)]
    Other(String),
}

/// Two enums side by side.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "FlatTwoEnums")]
pub(super) struct FlatTwoEnumsSpec {
    #[serde(flatten)]
    first: FirstChoice,
    #[serde(flatten)]
    second: SecondChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum FirstChoice {
    A(i32),
    B(i32),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum SecondChoice {
    C(i32),
    D(i32),
}

/// Unit variants, flattened.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "FlatUnits")]
pub(super) struct FlatUnitsSpec {
    #[serde(flatten)]
    choice: FlatUnitsChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum FlatUnitsChoice {
    A,
    B,
}

/// A map of values beside fields.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "FlatMap")]
pub(super) struct FlatMapSpec {
    name: String,
    #[serde(flatten)]
    rest: Texts,
}

/// Tuples.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Tuples")]
pub(super) struct TuplesSpec {
    pair: (String, i32),
}

/// A tuple struct.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "TupleStruct")]
pub(super) struct TupleStructSpec {
    pair: Pair,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Pair(String, i32);

/// A tuple variant.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "TupleVariant")]
pub(super) struct TupleVariantSpec {
    choice: TupleChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum TupleChoice {
    Pair(String, i32),
    Single(i32),
}

/// A unit struct.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UnitStruct")]
pub(super) struct UnitStructSpec;

/// A field of the unit type.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UnitField")]
pub(super) struct UnitFieldSpec {
    nothing: (),
}

/// Bytes, which are a list or a text.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Bytes")]
pub(super) struct BytesSpec {
    bytes: bytes::Bytes,
}

/// Maps with numbers for keys.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "NumberKeys")]
pub(super) struct NumberKeysSpec {
    map: std::collections::BTreeMap<u8, String>,
}

/// Any value.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Anything")]
pub(super) struct AnythingSpec {
    value: serde_json::Value,
}

/// Any value, or none.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "MaybeAnything")]
pub(super) struct MaybeAnythingSpec {
    /// With words.
    value: Option<serde_json::Value>,
}

/// An enum without variants.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "WithoutVariants")]
pub(super) struct WithoutVariantsSpec {
    never: Option<Never>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum Never {}

/// An untagged enum whose variants are lists.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Described")]
pub(super) struct DescribedSpec {
    value: OneOrMany,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// No schema at all.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "refused.example.com", version = "v1", kind = "Disabled", schema = "disabled")]
pub(super) struct DisabledSpec {
    value: String,
}

/// A bound that may be missing.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Bound")]
pub(super) struct BoundSpec {
    bound: std::ops::Bound<i32>,
}

/// A variant with a title.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "TitledVariant")]
pub(super) struct TitledVariantSpec {
    choice: TitledChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum TitledChoice {
    One(i32),
    /// # With a title
    ///
    /// And words.
    Two(i32),
}

/// An untagged variant with a title.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "TitledUntagged")]
pub(super) struct TitledUntaggedSpec {
    choice: TitledUntaggedChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum TitledUntaggedChoice {
    #[schemars(title = "One")]
    One {
        one: i32,
    },
    Two {
        two: i32,
    },
}

/// A bound that is a number in JSON Schema, and a flag in CRDs.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Exclusive")]
pub(super) struct ExclusiveSpec {
    #[schemars(extend("exclusiveMinimum" = 0))]
    value: i32,
}

/// A span of time, which is a tuple with an exclusive bound.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "TimeSpans")]
pub(super) struct TimeSpansSpec {
    #[schemars(with = "chrono::TimeDelta")]
    span: String,
}

/// A default that the bound excludes.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "DefaultUnderBound")]
pub(super) struct DefaultUnderBoundSpec {
    #[serde(default)]
    #[schemars(range(min = 1))]
    value: i32,
}

/// A default in which a field is null that may not be.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "NullDefault")]
pub(super) struct NullDefaultSpec {
    #[serde(default)]
    part: NullPart,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct NullPart {
    #[schemars(with = "String")]
    value: Option<String>,
}

/// A set of objects.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UniqueNulls")]
pub(super) struct UniqueNullsSpec {
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    list: Vec<OptionalName>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct OptionalName {
    name: Option<String>,
}

/// Values that are nothing.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "MapOfUnits")]
pub(super) struct MapOfUnitsSpec {
    map: std::collections::BTreeMap<String, ()>,
}

/// Unit variants with words beside others.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "DocumentedMixed")]
pub(super) struct DocumentedMixedSpec {
    choice: DocumentedMixedChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum DocumentedMixedChoice {
    /// Nothing.
    Nothing,
    /// Something.
    Something(i32),
}

/// Tagged inside, with structs of their own.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "InternalNewtypes")]
pub(super) struct InternalNewtypesSpec {
    #[serde(flatten)]
    source: InternalNewtypesSource,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
enum InternalNewtypesSource {
    First(OptionalName),
    Second(NullPart),
}

/// A rule that does not compile.
#[derive(CustomResource, kube::KubeSchema, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "refused.example.com", version = "v1", kind = "SameRule")]
#[x_kube(validation = "self.missing == 1")]
pub(super) struct SameRuleSpec {
    value: i32,
}

/// A plural that is no name.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "LongPlural", plural = "Long Plurals")]
pub(super) struct LongPluralSpec {}

/// A version that is not stored.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "SecondPlace", storage = false)]
pub(super) struct SecondPlaceSpec {}

/// Untagged variants that are lists and objects.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UnevenLists")]
pub(super) struct UnevenListsSpec {
    choice: UnevenChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum UnevenChoice {
    One { name: String },
    Two { name: i32 },
}

/// A default that is no integer of 64 bits with a sign.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "LargeDefault")]
pub(super) struct LargeDefaultSpec {
    #[serde(default = "largest")]
    value: u64,
}

fn largest() -> u64 {
    u64::MAX
}

/// A type that holds itself.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "Recursive")]
pub(super) struct RecursiveSpec {
    node: Node,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Node {
    next: Option<Box<Node>>,
}

/// A type that holds a list of itself.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "RecursiveList")]
pub(super) struct RecursiveListSpec {
    tree: Tree,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Tree {
    children: Vec<Tree>,
}

/// Variants whose fields differ by words alone.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "RenamedConflict")]
pub(super) struct RenamedConflictSpec {
    #[serde(flatten)]
    choice: RenamedConflictChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum RenamedConflictChoice {
    One {
        #[schemars(length(max = 5))]
        name: String,
    },
    Two {
        #[serde(rename = "name")]
        title: String,
        two: i32,
    },
}

/// A unit variant without a tag.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "UntaggedUnits")]
pub(super) struct UntaggedUnitsSpec {
    choice: UntaggedUnitsChoice,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum UntaggedUnitsChoice {
    Nothing,
    Something { value: i32 },
}

/// A default of another type.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "DefaultOfAnother")]
pub(super) struct DefaultOfAnotherSpec {
    #[serde(default)]
    #[schemars(with = "String")]
    number: i32,
}

/// A map of objects beside fields.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "FlatMapOfParts")]
pub(super) struct FlatMapOfPartsSpec {
    own: i32,
    #[serde(flatten)]
    parts: std::collections::HashMap<String, NullPart>,
}

/// Maps whose keys have a pattern.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "PatternKeys")]
pub(super) struct PatternKeysSpec {
    map: std::collections::BTreeMap<PatternKey, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
struct PatternKey(#[schemars(regex(pattern = "^[a-z]+$"))] String);

/// An option around a newtype of an option, with words.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "refused.example.com", version = "v1", kind = "OptionTwice")]
pub(super) struct OptionTwiceSpec {
    choice: Option<OptionWithin>,
}

/// An option.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct OptionWithin(Option<FirstChoice>);
