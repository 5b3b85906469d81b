//! The attribute of `Resource` beside the macro with its name, which a program with kinds of both dialects imports.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
#[allow(unused_imports)]
use kubesmith_runtime::policy;
use kubesmith_runtime::{Resource, ResourceInfo, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Resource)]
#[resource(group = "bakery.example.com", version = "v1")]
#[policy(name = "heat.bakery.example.com", validation(expression = "object.spec.degrees <= 300"))]
struct Oven {
    metadata: ObjectMeta,
    spec: OvenSpec,
}

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
struct OvenSpec {
    degrees: i32,
}

#[test]
fn derive_has_the_attribute_beside_the_macro() {
    assert_eq!(Oven::PLURAL, "ovens");
}
