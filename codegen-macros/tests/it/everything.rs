//! Every key of every attribute at once, without a warning.
#![deny(warnings, missing_docs)]
#![allow(dead_code, unreachable_pub, reason = "a crate of API types exports its types")]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema, rbac, webhook, webhook_configuration};
use serde::{Deserialize, Serialize};

/// A pool of addresses.
#[derive(Clone, Debug, Resource)]
#[resource(group = "pools.example.com", version = "v1alpha1", kind = "Pool", list_kind = "PoolList")]
#[resource(plural = "pools", singular = "pool", short_name = "pl", short_name = ["po", "ppl"], category("all"))]
#[resource(scope = "Namespaced", status, storage_version, deprecated_version(warning = "use v1"))]
#[resource(scale(
    spec_path = ".spec.size",
    status_path = ".status.size",
    selector_path = ".status.selector"
))]
#[resource(
    print_column(name = "Size", type = "integer", json_path = ".spec.size", format = "int32", priority = 1),
    print_column(
        name = "Ready",
        type = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#,
        description = "is it ready?"
    )
)]
#[resource(selectable_field(json_path = ".spec.name"), metadata(annotations("a.b/c" = "d"), labels = {"e": "f"}))]
#[resource(
    api_approved = "unapproved, experimental-only",
    group_name_in_code = "Pools",
    informer_group_name = "P"
)]
#[genclient(skip_verbs("deleteCollection"), no_status)]
#[deepcopy]
#[validation(rule(rule = "self.metadata.name != 'x'", message = "not x", reason = "FieldValueForbidden"))]
pub struct Pool {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: PoolSpec,
    /// What is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PoolStatus>,
}

/// What is wanted.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(min_properties = 1, max_properties = 20)]
#[schema(struct_type = "atomic", external_docs(url = "https://example.com/pool", description = "the manual"))]
pub struct PoolSpec {
    /// Name.
    #[validation(min_length = 1, max_length = 63, pattern = "^[a-z]+$", format = "hostname", required)]
    #[schema(default = "pool", example = "a", title = "Name", immutable)]
    pub name: String,
    /// Size.
    #[validation(minimum = 0, exclusive_minimum, maximum = 100, exclusive_maximum = true, multiple_of = 5)]
    #[schema(default = 5)]
    pub size: Option<i32>,
    /// Ports.
    #[validation(
        min_items = 1,
        max_items = 3,
        items(minimum = 1, maximum = 65535, rule(rule = "self != 22"))
    )]
    #[schema(list_type = "set", default = [80, 443])]
    pub ports: Vec<i32>,
    /// Members.
    #[schema(list_type = "map", list_map_key = "name", list_map_key("protocol"))]
    pub members: Vec<Member>,
    /// Labels.
    #[schema(map_type = "granular", nullable, default = null, optional)]
    pub labels: BTreeMap<String, String>,
    /// Anything.
    #[schema(preserve_unknown_fields, embedded_resource, default = {"apiVersion": "v1", kind: "Pod", "n": [-1.5, true]})]
    pub template: Template,
    /// A number or a name.
    #[validation(x_int_or_string, type = "string")]
    #[schema(schemaless)]
    pub port: Template,
    /// Protocol.
    #[validation(enum("TCP", "UDP"))]
    #[schema(default = "TCP")]
    pub protocol: String,
}

/// Anything.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
#[validation(x_preserve_unknown_fields, x_embedded_resource, type = "object")]
pub struct Template {}

/// A member.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
pub struct Member {
    name: String,
    protocol: Protocol,
}

/// A protocol.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
#[validation(enum("TCP", "UDP"))]
pub enum Protocol {
    /// Streams.
    #[serde(rename = "TCP")]
    Tcp,
    /// Packets.
    #[serde(rename = "UDP")]
    Udp,
}

/// What is there.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
pub struct PoolStatus {
    size: i32,
    selector: String,
}

/// A controller.
#[rbac(groups("", "apps"), resources("pods", "deployments/status"), resource_names = "a", verbs = "get;list")]
#[rbac(urls = "/metrics", verbs = "get", role_name = "metrics")]
#[webhook_configuration(mutating = false, name = "pools")]
pub struct Controller;

#[webhook_configuration(mutating = true)]
impl Controller {
    /// Changes pools.
    #[rbac(groups = "core", resources = "secrets", verbs = "*", namespace = "infra")]
    #[webhook(
        mutating = true,
        name = "mpool.pools.example.com",
        path = "/mutate-pools-example-com-v1alpha1-pool",
        service_name = "hooks",
        service_namespace = "infra",
        service_port = 8443,
        groups = "pools.example.com",
        versions = "v1alpha1",
        resources = "pools",
        verbs("create", "UPDATE"),
        failure_policy = "fail",
        match_policy = "Exact",
        side_effects = "None",
        timeout_seconds = 5,
        reinvocation_policy = "IfNeeded",
        admission_review_versions("v1", "v1beta1"),
        webhook_versions = "v1",
        patch = {"namespaceSelector": {"matchLabels": {"pools": "on"}}}
    )]
    #[webhook(
        mutating = false,
        name = "vpool.pools.example.com",
        url = "https://hooks.example.com/pools",
        groups = "pools.example.com",
        versions = "*",
        resources = "pools",
        verbs = "*",
        failure_policy = "Ignore",
        side_effects = "NoneOnDryRun",
        admission_review_versions = "v1"
    )]
    pub fn reconcile(&self) {}
}

#[test]
fn every_key_is_accepted() {
    let pool = serde_json::json!({
        "metadata": {},
        "spec": {"name": "a", "size": 5, "ports": [80], "members": [], "labels": {}, "template": {}, "port": {},
                 "protocol": "TCP"},
    });
    let pool: Pool = serde_json::from_value(pool).unwrap();
    assert_eq!(pool.spec.size, Some(5));
}
