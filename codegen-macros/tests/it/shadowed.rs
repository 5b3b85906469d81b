//! The expansions use nothing from the prelude, so that types of the same names do no harm.
//! (serde's own derives do not bear other types called `str` or `bool`, so these stay out.)
#![allow(dead_code)]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

struct Option;
struct Some;
struct None;
struct Result;
struct Ok;
struct Err;
struct String;
struct Vec;
struct Box;
struct Cow;
struct Self_;
struct Scope;
struct Object;
struct ResourceInfo;
trait Clone {}
trait Default {}
trait Debug {}
trait Serialize {}
trait Deserialize {}
trait From {}
trait Into {}
trait Any {}
mod std {}
mod core {}
mod serde {}
mod kube {}

#[derive(
    ::core::clone::Clone, ::core::fmt::Debug, ::core::default::Default, ::kubesmith_runtime::Resource,
)]
#[resource(group = "example.com", version = "v1", status)]
#[serde(default)]
#[deepcopy]
struct Shade {
    metadata: ObjectMeta,
    spec: ShadeSpec,
    status: ShadeStatus,
}

#[derive(
    ::core::clone::Clone,
    ::core::fmt::Debug,
    ::core::default::Default,
    ::kubesmith_runtime::serde::Serialize,
    ::kubesmith_runtime::serde::Deserialize,
    ::kubesmith_runtime::Schema,
)]
struct ShadeSpec {
    #[validation(minimum = 1)]
    size: i32,
}

#[derive(
    ::core::clone::Clone,
    ::core::fmt::Debug,
    ::core::default::Default,
    ::kubesmith_runtime::serde::Serialize,
    ::kubesmith_runtime::serde::Deserialize,
    ::kubesmith_runtime::Schema,
)]
struct ShadeStatus {}

#[test]
fn generated_code_compiles_with_shadowed_names() {
    let text =
        r#"{"apiVersion":"example.com/v1","kind":"Shade","metadata":{},"spec":{"size":3},"status":{}}"#;
    let shade: Shade = ::serde_json::from_str(text).unwrap();
    assert_eq!(::serde_json::to_string(&shade).unwrap(), text);
}
