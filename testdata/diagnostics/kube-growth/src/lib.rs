//! What grows with each level is refused before it is made.

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Growth")]
pub struct GrowthSpec {
    pub aliases: T0,
    #[serde(default = "f0")]
    pub functions: String,
    #[schemars(schema_with = "s0")]
    pub schemas: String,
    #[schemars(schema_with = "variables")]
    pub variables: String,
    #[serde(default = "lists")]
    pub lists: Vec<Vec<Vec<u8>>>,
    pub generic: G<G<String>>,
    pub holder: H0,
    #[serde(default = "negated")]
    pub negated: bool,
    #[serde(default = "formatted")]
    pub formatted: String,
    #[serde(default = "added")]
    pub added: i32,
    #[serde(default = "json")]
    pub json: serde_json::Value,
    #[serde(default = "fraction")]
    pub fraction: f64,
    #[schemars(required)]
    pub itself: Itself,
    #[serde(default)]
    pub arrays: [[[[u8; 64]; 64]; 64]; 64],
}

fn negated() -> bool {
    !negated()
}

fn formatted() -> String {
    format!("{}x", formatted())
}

fn added() -> i32 {
    added() + added()
}

fn json() -> serde_json::Value {
    serde_json::json!([json(), json()])
}

const FRACTION: f64 = FRACTION + FRACTION;

fn fraction() -> f64 {
    FRACTION
}

pub const UNUSED: [[[[u8; 1000]; 1000]; 1000]; 1000] = [[[[0; 1000]; 1000]; 1000]; 1000];

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Itself {
    pub inner: Box<Itself>,
}

fn lists() -> Vec<Vec<Vec<u8>>> {
    vec![vec![vec![0; 1000]; 1000]; 1000]
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct G<T> {
    pub next: Box<G<Option<T>>>,
}

pub type T0 = (T1, T1);

fn f0() -> String {
    format!("{}{}", f1(), f1())
}

fn s0(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s1(generator), "b": s1(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H0 {
    pub a: H1,
    pub b: H1,
}

pub type T1 = (T2, T2);

fn f1() -> String {
    format!("{}{}", f2(), f2())
}

fn s1(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s2(generator), "b": s2(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H1 {
    pub a: H2,
    pub b: H2,
}

pub type T2 = (T3, T3);

fn f2() -> String {
    format!("{}{}", f3(), f3())
}

fn s2(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s3(generator), "b": s3(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H2 {
    pub a: H3,
    pub b: H3,
}

pub type T3 = (T4, T4);

fn f3() -> String {
    format!("{}{}", f4(), f4())
}

fn s3(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s4(generator), "b": s4(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H3 {
    pub a: H4,
    pub b: H4,
}

pub type T4 = (T5, T5);

fn f4() -> String {
    format!("{}{}", f5(), f5())
}

fn s4(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s5(generator), "b": s5(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H4 {
    pub a: H5,
    pub b: H5,
}

pub type T5 = (T6, T6);

fn f5() -> String {
    format!("{}{}", f6(), f6())
}

fn s5(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s6(generator), "b": s6(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H5 {
    pub a: H6,
    pub b: H6,
}

pub type T6 = (T7, T7);

fn f6() -> String {
    format!("{}{}", f7(), f7())
}

fn s6(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s7(generator), "b": s7(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H6 {
    pub a: H7,
    pub b: H7,
}

pub type T7 = (T8, T8);

fn f7() -> String {
    format!("{}{}", f8(), f8())
}

fn s7(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s8(generator), "b": s8(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H7 {
    pub a: H8,
    pub b: H8,
}

pub type T8 = (T9, T9);

fn f8() -> String {
    format!("{}{}", f9(), f9())
}

fn s8(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s9(generator), "b": s9(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H8 {
    pub a: H9,
    pub b: H9,
}

pub type T9 = (T10, T10);

fn f9() -> String {
    format!("{}{}", f10(), f10())
}

fn s9(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s10(generator), "b": s10(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H9 {
    pub a: H10,
    pub b: H10,
}

pub type T10 = (T11, T11);

fn f10() -> String {
    format!("{}{}", f11(), f11())
}

fn s10(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s11(generator), "b": s11(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H10 {
    pub a: H11,
    pub b: H11,
}

pub type T11 = (T12, T12);

fn f11() -> String {
    format!("{}{}", f12(), f12())
}

fn s11(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s12(generator), "b": s12(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H11 {
    pub a: H12,
    pub b: H12,
}

pub type T12 = (T13, T13);

fn f12() -> String {
    format!("{}{}", f13(), f13())
}

fn s12(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s13(generator), "b": s13(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H12 {
    pub a: H13,
    pub b: H13,
}

pub type T13 = (T14, T14);

fn f13() -> String {
    format!("{}{}", f14(), f14())
}

fn s13(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s14(generator), "b": s14(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H13 {
    pub a: H14,
    pub b: H14,
}

pub type T14 = (T15, T15);

fn f14() -> String {
    format!("{}{}", f15(), f15())
}

fn s14(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s15(generator), "b": s15(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H14 {
    pub a: H15,
    pub b: H15,
}

pub type T15 = (T16, T16);

fn f15() -> String {
    format!("{}{}", f16(), f16())
}

fn s15(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s16(generator), "b": s16(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H15 {
    pub a: H16,
    pub b: H16,
}

pub type T16 = (T17, T17);

fn f16() -> String {
    format!("{}{}", f17(), f17())
}

fn s16(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s17(generator), "b": s17(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H16 {
    pub a: H17,
    pub b: H17,
}

pub type T17 = (T18, T18);

fn f17() -> String {
    format!("{}{}", f18(), f18())
}

fn s17(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s18(generator), "b": s18(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H17 {
    pub a: H18,
    pub b: H18,
}

pub type T18 = (T19, T19);

fn f18() -> String {
    format!("{}{}", f19(), f19())
}

fn s18(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s19(generator), "b": s19(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H18 {
    pub a: H19,
    pub b: H19,
}

pub type T19 = (T20, T20);

fn f19() -> String {
    format!("{}{}", f20(), f20())
}

fn s19(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "properties": { "a": s20(generator), "b": s20(generator) } })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct H19 {
    pub a: H20,
    pub b: H20,
}

pub type T20 = String;

fn f20() -> String {
    "end".to_string()
}

fn s20(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string" })
}

pub type H20 = String;

fn variables(_: &mut SchemaGenerator) -> Schema {
    let v0 = json_schema!({ "type": "string" });
    let v1 = json_schema!([v0, v0]);
    let v2 = json_schema!([v1, v1]);
    let v3 = json_schema!([v2, v2]);
    let v4 = json_schema!([v3, v3]);
    let v5 = json_schema!([v4, v4]);
    let v6 = json_schema!([v5, v5]);
    let v7 = json_schema!([v6, v6]);
    let v8 = json_schema!([v7, v7]);
    let v9 = json_schema!([v8, v8]);
    let v10 = json_schema!([v9, v9]);
    let v11 = json_schema!([v10, v10]);
    let v12 = json_schema!([v11, v11]);
    let v13 = json_schema!([v12, v12]);
    let v14 = json_schema!([v13, v13]);
    let v15 = json_schema!([v14, v14]);
    let v16 = json_schema!([v15, v15]);
    let v17 = json_schema!([v16, v16]);
    let v18 = json_schema!([v17, v17]);
    let v19 = json_schema!([v18, v18]);
    let v20 = json_schema!([v19, v19]);
    v20
}
