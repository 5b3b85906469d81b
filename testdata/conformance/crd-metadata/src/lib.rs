//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "res.conformance.dev", version = "v1", metadata(annotations("cert-manager.io/inject-ca-from" = "ns/cert")), metadata(annotations("note" = "a=b=c", "empty" = "")), metadata(labels("app" = "demo"), annotations("zeta" = "last")), metadata(labels("tier" = "back", "on" = "true")))]
pub struct Badge {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: BadgeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BadgeSpec {
}
