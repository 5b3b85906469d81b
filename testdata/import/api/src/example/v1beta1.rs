//! Version `v1beta1` of group `example.com`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::Resource;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "example.com",
    version = "v1beta1",
    list_kind = "GadgetCollection",
    short_name = "gd",
    category("all", "toys"),
    scope = "Cluster",
    unserved_version,
    deprecated_version(warning = "use v1")
)]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient(non_namespaced)]
#[deepcopy]
pub struct Gadget {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub other_fields: BTreeMap<String, serde_json::Value>,
}
