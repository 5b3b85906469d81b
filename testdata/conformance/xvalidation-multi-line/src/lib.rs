//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cel.conformance.dev", version = "v1")]
pub struct Gatekeeper {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: GatekeeperSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(rule = "(self.kind == 'a' && has(self.a) && !has(self.b)) || (self.kind == 'b' && has(self.b) && !has(self.a)) || (self.kind == 'c' && !has(self.a) && !has(self.b))", message = "the member that matches kind must be set: 'a' or 'b', and no other # really"), rule(rule = "self.kind in ['a', 'b', 'c']", message = "kind: one of a, b, c"), rule(rule = r#"!("x" == self.kind)"#))]
pub struct GatekeeperSpec {
    #[validation(max_length = 1)]
    pub kind: String,
    pub a: Option<i32>,
    pub b: Option<i32>,
}
