//! Kinds in kube-rs's dialect, compiled with its own derive: the command reads this folder, and has to write the CRDs
//! that `crd()` answers at run time.

#![allow(missing_docs, reason = "the types say what they are, and many are without words on purpose")]

pub mod collections;
pub mod conversions;
pub mod defaults;
pub mod descriptions;
pub mod edges;
pub mod enums;
pub mod evaluated;
pub mod flatten;
pub mod functions;
pub mod generics;
pub mod known;
pub mod kubernetes;
pub mod literal;
pub mod macros;
pub mod numbers;
pub mod odd;
pub mod operators;
pub mod options;
pub mod plain;
pub mod resolution;
pub mod resource;
pub mod rules;
pub mod schemars_attributes;
pub mod serde_attributes;
pub mod steps;
pub mod validated;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt as _;

/// A kind and what kube-rs makes of it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The module that it stands in.
    pub module: &'static str,
    /// The name of the root type.
    pub root: &'static str,
    /// What kube-rs answers.
    pub crd: fn() -> CustomResourceDefinition,
}

macro_rules! kinds {
    ($($module:ident: $($root:ident),+;)+) => {
        /// Every kind of this crate.
        pub fn kinds() -> Vec<Kind> {
            let mut all = vec![$($(Kind {
                module: stringify!($module),
                root: stringify!($root),
                crd: $module::$root::crd,
            }),+),+];
            all.extend(macros::corpus::kinds());
            all
        }
    };
}

kinds! {
    collections: Arrays, Counted, Foreign, Lists, Maps, Nestings, Ranges, Sets, TextKeys, VariantKeys,
        Wrapped;
    conversions: Conversions;
    defaults: BareDefaults, CompoundDefaults, ContainerDefaults, EnumDefaults, FunctionDefaults, HandDefaults,
        NestedDefaults, PathDefaults, SchemaDefaults, SkippedDefaults;
    descriptions: Attributes, Characters, Headings, Markdown, OneLine, Paragraphs, Precedence, RootWithout,
        RootWords, Wordless;
    edges: EnumStatus, FlatInherits, FlatVariants, MapSpec, Ordered, Represented, RuledEdges,
        Spellings, TransparentSpec, UnitSpec, UntaggedSpec;
    enums: AnnotatedEnums, Cases, DocumentedUnits, EnumSpec, External, NestedEnums, NestedOption, Numbered,
        SingleTagged, SkippedVariants, Units, Untagged, UntaggedScalars;
    evaluated: Arithmetic, BuildTime, CollectionValues, Constructed, Decisions, ForeignValues, TextValues;
    flatten: FlatAlone, FlatAnything, FlatDefaults, FlatEnum, FlatMaybeEnum, FlatMaybeUntagged, FlatOptions,
        FlatShadowed, FlatSingleTag, FlatStrict, FlatStructs, FlatTwice, FlatUntagged, FlatValue, FlatWords;
    functions: Changed, Transformed;
    generics: Aliases, GenericEnums, GenericParts, GenericWords, Parameters, Phantoms, Wrappers;
    known: Addresses, Chrono, Holders, Identifiers, Jiff, KnownDefaults, KubeTypes, OsTexts, Standard;
    kubernetes: Conditions, ContainerParts, Metadata, Objects, Placement, References, Scalars, Untyped,
        WholeContainer, WholePod, Wrapped;
    literal: Composed, Literals, Manual, SelfDescribed, Values;
    macros: ClusterScoped, HoldsMade, Scoped;
    numbers: Atomics, Bounds, Floats, Integers, MaybeIntegers, Misfits, NonZero, Positive, Widths;
    odd: OddConstraints, OddNames, OddNewtypes, OddPresence, OddRules, OddVariants;
    operators: Backup, Certificate, Database, Pipeline;
    options: BareOptionTwice, OptionalConstraints, OptionalDefaults, OptionalItems, OptionalNewtypes,
        OptionalResults, OptionalUntagged;
    plain: Empties, Greeting, Imported, Keywords, LongNames, ManyNewtypes, Minimal, Newtype, Optional, Pathed,
        Private, WithStatus;
    resolution: FirstThing, RenamedDerives, SecondThing, Ways;
    resource: AliasResource, Batch, Crated, Datum, Derived, Endpoints, EverythingRoot, Gateway, MatrixBox,
        Named, Outdated, PathStatus, Piecemeal, Policy, Quiz, Rootless, RootlessStatus, Ruled, RuledTwice,
        ScaleWithoutStatus, Scaled, ScaledPlain, Silent;
    rules: AllLevels, ExtendedRules, FieldRules, Merges, NestedRules, NoRules, RootlessRules, RuleCrates,
        RuleForms, RuleTexts, RulesTogether, StructMerges;
    schemars_attributes: Examples, Extensions, Identities, InnerConstraints, Overrides, SchemaWith, Texts,
        Titles, TypeExtensions, Variants, WithTypes;
    serde_attributes: Beside, Conversions, FieldCases, FieldNames, Presence, Remotes, Skips, Spread,
        Strictness, StructTag, Transparents, WithModules;
    steps: BuiltStructs, Filled;
    validated: Garde, Together, Validator, ValidatorOthers;
}
