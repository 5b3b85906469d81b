//! Numbers.

use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64,
    NonZeroUsize,
};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every whole number.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Integers")]
pub struct IntegersSpec {
    pub a: i8,
    pub b: i16,
    pub c: i32,
    pub d: i64,
    pub e: i128,
    pub f: isize,
    pub g: u8,
    pub h: u16,
    pub i: u32,
    pub j: u64,
    pub k: u128,
    pub l: usize,
}

/// Numbers with a fraction.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Floats")]
pub struct FloatsSpec {
    pub single: f32,
    pub double: f64,
    pub maybe: Option<f64>,
    pub list: Vec<f32>,
}

/// Numbers that may be absent.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "MaybeIntegers")]
pub struct MaybeIntegersSpec {
    pub a: Option<i8>,
    pub b: Option<i16>,
    pub c: Option<i32>,
    pub d: Option<i64>,
    pub g: Option<u8>,
    pub h: Option<u16>,
    pub i: Option<u32>,
    pub j: Option<u64>,
    pub l: Option<usize>,
}

/// Positive numbers.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Positive")]
pub struct PositiveSpec {
    pub a: NonZeroU8,
    pub b: NonZeroU16,
    pub c: NonZeroU32,
    pub d: NonZeroU64,
    pub e: NonZeroUsize,
    pub f: Option<NonZeroU32>,
    pub g: Vec<NonZeroU8>,
    pub h: std::num::NonZero<u16>,
}

/// Numbers with a sign that are not zero.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "NonZero")]
pub struct NonZeroSpec {
    pub a: NonZeroI8,
    pub b: NonZeroI16,
    pub c: NonZeroI32,
    pub d: NonZeroI64,
    pub e: Option<NonZeroI32>,
}

/// Atomic numbers.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Atomics")]
pub struct AtomicsSpec {
    #[serde(skip)]
    pub nothing: (),
    #[schemars(with = "AtomicBool")]
    pub flag: bool,
    #[schemars(with = "AtomicI32")]
    pub number: i32,
    #[schemars(with = "AtomicU64")]
    pub large: u64,
}

/// Bounds of every kind.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Bounds")]
#[serde(rename_all = "camelCase")]
pub struct BoundsSpec {
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    #[schemars(range(min = -5))]
    pub signed: i32,
    #[schemars(range(max = 10))]
    pub unsigned: u32,
    #[schemars(range(min = 0.5, max = 1.5))]
    pub fraction: f64,
    #[schemars(range(min = 1, max = 2))]
    pub whole_bounds: f64,
    #[schemars(range(min = LOWEST, max = HIGHEST))]
    pub constants: i64,
    #[schemars(range(min = 1))]
    pub maybe: Option<i32>,
    #[schemars(range(equal = 7))]
    pub exact: i32,
    #[schemars(range(min = 1_000, max = 0xffff))]
    pub spelled: i64,
    #[schemars(range(min = 1u8, max = 200_u8))]
    pub suffixed: u8,
    #[schemars(range(min = "LOWEST", max = "crate::numbers::HIGHEST"))]
    pub as_text: i64,
    #[schemars(range(min = i32::MIN, max = i32::MAX))]
    pub associated: i64,
    #[schemars(range(max = 1 << 20))]
    pub shifted: i64,
    #[schemars(range(max = 60 * 60 * 24))]
    pub computed: i64,
    #[schemars(range(min = -1.0e3, max = 1e6))]
    pub exponent: f64,
}

pub const LOWEST: i64 = -100;
pub const HIGHEST: i64 = LOWEST + 300;

/// Bounds on what is not a number are ignored where they do not fit.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Misfits")]
#[serde(rename_all = "camelCase")]
pub struct MisfitsSpec {
    #[schemars(range(min = 1))]
    pub text: String,
    #[schemars(length(min = 1))]
    pub number: i32,
    #[schemars(length(min = 1, max = 3))]
    pub list: Vec<String>,
    #[schemars(length(min = 1, max = 3))]
    pub map: std::collections::BTreeMap<String, String>,
    #[schemars(length(min = 1))]
    pub maybe_list: Option<Vec<String>>,
    #[schemars(regex(pattern = "^a"))]
    pub list_of_texts: Vec<String>,
}

/// The widths of numbers in a map, a list and a newtype.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "numbers.example.com", version = "v1", kind = "Widths")]
pub struct WidthsSpec {
    pub map: std::collections::BTreeMap<String, u64>,
    pub list: Vec<i16>,
    pub percent: Percent,
    pub percents: Vec<Percent>,
    pub maybe: Option<Percent>,
}

/// Between nothing and all.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Percent(#[schemars(range(min = 0, max = 100))] pub u8);
