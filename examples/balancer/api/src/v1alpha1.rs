//! Version `v1alpha1` of group `exposer.hliangzhao.io`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Label of the proxy's pods and of the backends' Services; its value is the Balancer's name.
pub const BALANCER_NAME_LABEL: &str = "balancer.exposer.hliangzhao.io/balancer-name";

/// Annotation of the proxy's pod template: the hash of the configuration that it runs with.
pub const CONFIGMAP_HASH_ANNOTATION: &str = "balancer.exposer.hliangzhao.io/configmap-hash";

/// Annotation of the proxy's pod template: the hash of the addresses that its backends' Services have.
pub const ADDRESSES_HASH_ANNOTATION: &str = "balancer.exposer.hliangzhao.io/addresses-hash";

/// Balancer splits traffic over weighted backends.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "exposer.hliangzhao.io",
    version = "v1alpha1",
    kind = "Balancer",
    status,
    print_column(name = "Active", json_path = ".status.activeBackendsNum"),
    print_column(name = "Obsolete", json_path = ".status.obsoleteBackendsNum"),
    print_column(
        name = "Ready",
        type = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    print_column(name = "Age", json_path = ".metadata.creationTimestamp")
)]
#[genclient]
#[deepcopy]
#[validation(rule(
    rule = "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    message = "the name must be one of a Service: lower-case letters, digits and '-', a letter first"
))]
#[validation(rule(
    rule = "self.spec.backends.all(b, size(self.metadata.name) + size(b.name) <= 54)",
    message = "the names of the Balancer and of each backend may have 54 characters together"
))]
pub struct Balancer {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub spec: BalancerSpec,
    #[allow(missing_docs, reason = "a description here would hide the type's in the CRD")]
    #[serde(default)]
    pub status: BalancerStatus,
}

/// BalancerSpec says where traffic goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct BalancerSpec {
    /// The weighted targets; at least one.
    #[validation(min_items = 1, max_items = 128)]
    #[schema(list_type = "map", list_map_key = "name")]
    pub backends: Vec<BackendSpec>,
    /// Labels that the pods of every backend have.
    #[validation(max_properties = 16)]
    #[validation(rule(
        rule = "self.all(key, key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
                ([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$'))",
        message = "keys must be those of labels"
    ))]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub selector: BTreeMap<String, LabelValue>,
    /// The ports that clients connect to; at least one.
    #[validation(min_items = 1, max_items = 32)]
    #[schema(list_type = "map", list_map_key = "name")]
    #[validation(rule(
        rule = "self.all(a, self.exists_one(b, a.port == b.port && (has(a.protocol) ? a.protocol : 'TCP') == \
                (has(b.protocol) ? b.protocol : 'TCP')))",
        message = "a port may be listed once for each protocol"
    ))]
    pub ports: Vec<BalancerPort>,
}

/// BackendSpec is one weighted target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct BackendSpec {
    /// Name of the backend, unique within the balancer.
    #[validation(min_length = 1, max_length = 53, pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    pub name: String,
    /// Share of the traffic, relative to the other backends' weights.
    #[validation(minimum = 1)]
    pub weight: i32,
    /// Labels of this backend's pods, beside the balancer's own selector. Where neither has one, nothing gives the
    /// backend's Service endpoints.
    #[validation(max_properties = 16)]
    #[validation(rule(
        rule = "self.all(key, key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
                ([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$'))",
        message = "keys must be those of labels"
    ))]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub selector: BTreeMap<String, LabelValue>,
}

/// BalancerPort maps a public port to a container port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct BalancerPort {
    /// Name of the port, unique within the balancer.
    #[validation(required, min_length = 1, max_length = 63, pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// TCP or UDP; TCP when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The public port.
    pub port: Port,
    /// The container port, a number or the name of one; the public port when absent.
    #[validation(minimum = 0, maximum = 65535, max_length = 15)]
    #[validation(pattern = "^(([0-9]+-)*[0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*)?$")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_port: Option<IntOrString>,
}

/// A transport protocol: `TCP` or `UDP`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(transparent)]
#[validation(enum("TCP", "UDP"))]
pub struct Protocol(pub String);

impl Protocol {
    /// Transmission control protocol.
    pub const TCP: &'static str = "TCP";
    /// User datagram protocol.
    pub const UDP: &'static str = "UDP";
}

/// The value of a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(transparent)]
#[validation(max_length = 63, pattern = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")]
pub struct LabelValue(pub String);

/// A port number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(transparent)]
#[validation(minimum = 1, maximum = 65535)]
pub struct Port(pub i32);

/// BalancerStatus counts backends and says whether traffic is shared as the spec wants it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase", default)]
pub struct BalancerStatus {
    /// Backends that have a Service which selects pods.
    pub active_backends_num: i32,
    /// Services of backends that are no longer listed.
    pub obsolete_backends_num: i32,
    /// The generation of the spec that the rest of the status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Ready`: the proxy runs with the configuration that the spec asks for.
    #[schema(list_type = "map", list_map_key = "type")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
