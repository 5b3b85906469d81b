//! Server-side apply of what is no kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
#[genclient(
    method(name = "Grow", verb = "apply", input = "WidgetSpec"),
    method(name = "Resize", verb = "apply", subresource = "scale", input = "k8s_openapi::api::autoscaling::v1::ScaleSpec"),
    method(name = "Scale", verb = "apply", subresource = "scale", input = "k8s_openapi::api::autoscaling::v1::Scale")
)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
}
