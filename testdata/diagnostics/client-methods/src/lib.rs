//! Methods that a client cannot have.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};


/// Words that are wrong in themselves.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
#[genclient(
    method(),
    method(name = "GetScale"),
    method(verb = "get"),
    method(name = "get_scale", verb = "get"),
    method(name = "Fetch", verb = "watch"),
    method(name = "Bind", verb = "create", subresouce = "binding"),
    method(name = "Grow", verb = "update", subresource = "Scale/It", input = "Vec<String>"),
    method(name = "Look", verb = "get", input = "WidgetSpec"),
    method(name = "Port", verb = "get", result = "example.com/api/v1.Widget"),
    method(name = "Update", verb = "update", subresource = "scale"),
    method(name = "PatchSubresource", verb = "patch"),
    method(name = "Clone", verb = "get"),
    method(name = "See", verb = "get"),
    method(name = "See", verb = "list"),
    no_scale
)]
pub struct Words {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub size: i32,
}
