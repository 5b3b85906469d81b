#![allow(non_camel_case_types)]

use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
struct Tuple(String);

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
enum Enum {
    A,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
struct Generic<T> {
    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    spec: T,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "hopegi.com", version = "v1")]
struct lower_case {
    metadata: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta>,
    spec: String,
}

fn main() {}
