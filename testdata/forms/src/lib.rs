//! Types in every form that serde has: each field of [`FormsSpec`] is one of them.
//!
//! The command reads this file, and tests hold random values of the types against the schemas that it makes.

#![allow(missing_docs, reason = "the types say what they are")]

pub mod enums;
pub mod flat;
pub mod generic;
pub mod known;
pub mod plain;

use arbitrary::Arbitrary;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Calls a macro with the name and type of every field.
#[macro_export]
macro_rules! forms {
    ($each:ident) => {
        $each! {
            level: enums::Level,
            shape: enums::Shape,
            single: enums::Single,
            mixed: enums::Mixed,
            nested: enums::Nested,
            event: enums::Event,
            tagged_other: enums::TaggedOther,
            tagged_deep: enums::TaggedDeep,
            adjacent: enums::Adjacent,
            adjacent_other: enums::AdjacentOther,
            one_of_structs: enums::OneOfStructs,
            port: enums::Port,
            value: enums::AnyValue,
            overlap: enums::Overlap,
            fallback: enums::Fallback,
            tagged_fallback: enums::TaggedFallback,
            text_or_object: enums::TextOrObject,
            maps: enums::Maps,
            with_struct: flat::WithStruct,
            with_map: flat::WithMap,
            only_map: flat::OnlyMap,
            with_shape: flat::WithShape,
            with_units: flat::WithUnits,
            with_event: flat::WithEvent,
            with_adjacent: flat::WithAdjacent,
            with_untagged: flat::WithUntagged,
            with_optional: flat::WithOptional,
            with_two: flat::WithTwo,
            through_newtype: flat::ThroughNewtype,
            newtypes: plain::Newtypes,
            lists: plain::Lists,
            nulls: plain::Nulls,
            keys: plain::Keys,
            proxied: plain::Proxied,
            defaults: plain::Defaults,
            renamed: plain::Renamed,
            wrappers: generic::Wrappers,
            known: known::Known,
        }
    };
}

/// Has a field of every form.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "forms.example.com", version = "v1")]
pub struct Forms {
    pub metadata: ObjectMeta,
    pub spec: FormsSpec,
}

macro_rules! check {
    ($($field:ident: $module:ident::$ty:ident,)*) => {
        /// Whether the list of forms and the fields agree.
        pub fn fields(spec: FormsSpec) {
            let FormsSpec { $($field),* } = spec;
            $(let _: Option<$module::$ty> = $field;)*
        }
    };
}
forms!(check);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct FormsSpec {
    pub level: Option<enums::Level>,
    pub shape: Option<enums::Shape>,
    pub single: Option<enums::Single>,
    pub mixed: Option<enums::Mixed>,
    pub nested: Option<enums::Nested>,
    pub event: Option<enums::Event>,
    pub tagged_other: Option<enums::TaggedOther>,
    pub tagged_deep: Option<enums::TaggedDeep>,
    pub adjacent: Option<enums::Adjacent>,
    pub adjacent_other: Option<enums::AdjacentOther>,
    pub one_of_structs: Option<enums::OneOfStructs>,
    pub port: Option<enums::Port>,
    pub value: Option<enums::AnyValue>,
    pub overlap: Option<enums::Overlap>,
    pub fallback: Option<enums::Fallback>,
    pub tagged_fallback: Option<enums::TaggedFallback>,
    pub text_or_object: Option<enums::TextOrObject>,
    pub maps: Option<enums::Maps>,
    pub with_struct: Option<flat::WithStruct>,
    pub with_map: Option<flat::WithMap>,
    pub only_map: Option<flat::OnlyMap>,
    pub with_shape: Option<flat::WithShape>,
    pub with_units: Option<flat::WithUnits>,
    pub with_event: Option<flat::WithEvent>,
    pub with_adjacent: Option<flat::WithAdjacent>,
    pub with_untagged: Option<flat::WithUntagged>,
    pub with_optional: Option<flat::WithOptional>,
    pub with_two: Option<flat::WithTwo>,
    pub through_newtype: Option<flat::ThroughNewtype>,
    pub newtypes: Option<plain::Newtypes>,
    pub lists: Option<plain::Lists>,
    pub nulls: Option<plain::Nulls>,
    pub keys: Option<plain::Keys>,
    pub proxied: Option<plain::Proxied>,
    pub defaults: Option<plain::Defaults>,
    pub renamed: Option<plain::Renamed>,
    pub wrappers: Option<generic::Wrappers>,
    pub known: Option<known::Known>,
}
