//! What becomes of types in an `Option`, which is where kube-rs rewrites most.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options within lists and maps.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "OptionalItems")]
#[serde(rename_all = "camelCase")]
pub struct OptionalItemsSpec {
    pub units: Vec<Option<Unit>>,
    pub documented: Vec<Option<DocumentedUnit>>,
    pub choices: Vec<Option<Choice>>,
    pub either: Vec<Option<Either>>,
    pub parts: Vec<Option<Part>>,
    pub by_unit: BTreeMap<String, Option<Unit>>,
    pub by_documented: BTreeMap<String, Option<DocumentedUnit>>,
    pub by_choice: BTreeMap<String, Option<Choice>>,
    pub quantities: Vec<Option<Quantity>>,
    pub ports: BTreeMap<String, Option<IntOrString>>,
    pub maybe_units: Option<Vec<Option<Unit>>>,
    pub maybe_by_choice: Option<BTreeMap<String, Option<Choice>>>,
}

/// A unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Unit {
    #[default]
    Meter,
    Second,
}

/// A unit with words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum DocumentedUnit {
    /// Of length.
    #[default]
    Meter,
    /// Of time.
    Second,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    /// A text.
    Text(String),
    Part(Part),
}

/// Either of two.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Either {
    One {
        one: i32,
    },
    /// The other.
    Other {
        other: Option<Unit>,
    },
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Part {
    pub value: i32,
}

/// Options behind newtypes and names.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "OptionalNewtypes")]
#[serde(rename_all = "camelCase")]
pub struct OptionalNewtypesSpec {
    pub unit: Option<UnitNewtype>,
    pub documented: Option<DocumentedNewtype>,
    pub choice: Option<ChoiceNewtype>,
    pub bare_choice: Option<BareChoice>,
    /// The field has words.
    pub described_choice: Option<ChoiceNewtype>,
    pub within: OptionWithin,
    pub unit_within: UnitWithin,
    pub quantity: Option<Amount>,
    pub quantity_within: AmountWithin,
    pub bare_quantity: BareAmount,
    pub alias: MaybeChoice,
    pub boxed: Option<Box<Choice>>,
    pub around: Box<Option<Unit>>,
    pub transparent: Option<TransparentUnit>,
}

/// A newtype of a unit.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct UnitNewtype(pub Unit);

/// A newtype of a unit with words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct DocumentedNewtype(pub DocumentedUnit);

/// A newtype of a choice.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ChoiceNewtype(pub Choice);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct BareChoice(pub Choice);

/// An option in a newtype.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct OptionWithin(pub Option<Choice>);

/// An optional unit in a newtype.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct UnitWithin(pub Option<DocumentedUnit>);

/// An amount.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Amount(pub Quantity);

/// Perhaps an amount.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct AmountWithin(pub Option<Quantity>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct BareAmount(pub Option<Quantity>);

pub type MaybeChoice = Option<Choice>;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct TransparentUnit {
    /// Words of the field.
    pub unit: DocumentedUnit,
}

/// Options with defaults.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "OptionalDefaults")]
#[serde(rename_all = "camelCase")]
pub struct OptionalDefaultsSpec {
    #[serde(default = "some_unit")]
    pub unit: Option<Unit>,
    #[serde(default = "some_documented")]
    pub documented: Option<DocumentedUnit>,
    #[serde(default = "some_choice")]
    pub choice: Option<Choice>,
    #[serde(default = "some_either")]
    pub either: Option<Either>,
    #[serde(default = "some_part")]
    pub part: Option<Part>,
    #[serde(default)]
    pub nothing: Option<Choice>,
    #[serde(default = "some_quantity")]
    pub quantity: Option<Quantity>,
    #[serde(default = "some_port", skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    #[serde(default = "text_port")]
    pub text_port: IntOrString,
}

fn some_unit() -> Option<Unit> {
    Some(Unit::Second)
}

fn some_documented() -> Option<DocumentedUnit> {
    Some(DocumentedUnit::default())
}

fn some_choice() -> Option<Choice> {
    Some(Choice::Part(Part { value: 3 }))
}

fn some_either() -> Option<Either> {
    Some(Either::Other { other: Some(Unit::Meter) })
}

fn some_part() -> Option<Part> {
    Some(Part::default())
}

fn some_quantity() -> Option<Quantity> {
    Some(Quantity("1Gi".into()))
}

fn some_port() -> Option<IntOrString> {
    Some(IntOrString::Int(80))
}

fn text_port() -> IntOrString {
    IntOrString::String("http".to_string())
}

/// Options with constraints and extensions.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "OptionalConstraints")]
#[serde(rename_all = "camelCase")]
pub struct OptionalConstraintsSpec {
    #[schemars(title = "A unit")]
    pub titled_unit: Option<Unit>,
    #[schemars(title = "A unit", description = "By the attribute")]
    pub documented: Option<DocumentedUnit>,
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self != 'Meter'"}]))]
    pub ruled: Option<DocumentedUnit>,
    #[schemars(title = "A choice", extend("x-kubernetes-map-type" = "atomic"))]
    pub choice: Option<Choice>,
    #[schemars(extend("nullable" = false))]
    pub not_null: Option<Part>,
    #[schemars(extend("nullable" = false))]
    pub choice_not_null: Option<Choice>,
    #[schemars(required)]
    pub required_unit: Option<Unit>,
    #[schemars(required)]
    pub required_documented: Option<DocumentedUnit>,
    #[schemars(required)]
    pub required_choice: Option<Choice>,
    #[schemars(length(min = 1))]
    pub list: Option<Option<Vec<String>>>,
    #[schemars(inner(length(min = 1)))]
    pub inner: Option<Vec<Option<String>>>,
    #[schemars(range(min = 1), extend("x-kubernetes-int-or-string" = true))]
    pub number: Option<Quantity>,
    #[schemars(regex(pattern = "^[0-9]+Gi$"))]
    pub quantity: Option<Quantity>,
}

/// Untagged enums in an option.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "OptionalUntagged")]
pub struct OptionalUntaggedSpec {
    pub either: Option<Either>,
    /// Words of the field.
    pub described: Option<Either>,
    pub single: Option<SingleUntagged>,
    /// Words of the field.
    pub described_single: SingleUntagged,
    pub two: Option<TwoWithNothing>,
}

/// One variant only.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SingleUntagged {
    Only { only: i32 },
}

/// Structs of their own, of which one needs nothing.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TwoWithNothing {
    Part(Part),
    Loose(Loose),
}

/// Needs nothing.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Loose {
    pub loose: Option<i32>,
}

#[allow(clippy::derivable_impls)]
impl Default for Loose {
    fn default() -> Self {
        Self { loose: None }
    }
}

/// Results and options of unit types.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "OptionalResults")]
pub struct OptionalResultsSpec {
    pub result: Option<Result<String, i32>>,
    pub results: Vec<Result<Part, Unit>>,
    pub maybe_either: Option<either::Either<String, Part>>,
}

/// An option around a newtype of an option.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "options.example.com", version = "v1", kind = "BareOptionTwice")]
pub struct BareOptionTwiceSpec {
    pub choice: Option<BareWithin>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct BareWithin(pub Option<UndocumentedChoice>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum UndocumentedChoice {
    One(i32),
    Two(String),
}
