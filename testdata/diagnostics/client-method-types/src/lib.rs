//! Types of methods that generated code cannot name.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

mod hidden {
    pub struct Secret;
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
#[genclient(
    no_verbs,
    method(name = "Hidden", verb = "get", result = "hidden::Secret"),
    method(name = "Missing", verb = "get", result = "crate::Scale"),
    method(name = "Module", verb = "get", result = "hidden"),
    method(name = "Text", verb = "get", result = "String"),
    method(name = "Far", verb = "create", input = "k8s_openapi::api::policy::v1::Evicton"),
    method(name = "Near", verb = "create", input = "k8s.io/api/autoscaling/v2.Scale"),
    method(name = "Open", verb = "get", result = "std::collections::BTreeMap"),
    method(name = "Generic", verb = "get", result = "Either"),
    method(name = "Right", verb = "create", input = "k8s.io/api/policy/v1.Eviction", result = "WidgetSpec")
)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

pub struct Either<T>(pub T);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
}
