//! Every key of `#[kube]`.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nearly every key at once.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "Everything",
    root = "EverythingRoot",
    doc = "Everything that can be said of a kind",
    plural = "everythingies",
    singular = "everythingy",
    namespaced,
    status = "EverythingStatus",
    derive = "PartialEq",
    derive = "Default",
    category = "all",
    category = "examples",
    shortname = "ev",
    shortname = "every",
    printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "How old it is",
        format = "date-time",
        priority = 1
    ),
    selectable = ".spec.name",
    selectable = ".spec.size",
    scale(
        spec_replicas_path = ".spec.size",
        status_replicas_path = ".status.size",
        label_selector_path = ".status.selector"
    ),
    annotation("example.com/team", "the team"),
    annotation("example.com/link", "https://example.com/?a=b&c=\"d\""),
    label("app", "everything"),
    label("empty", ""),
    storage = true,
    served = true,
    attr = "allow(dead_code)"
)]
pub struct EverythingSpec {
    pub name: String,
    pub size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct EverythingStatus {
    pub size: i32,
    pub selector: String,
}

/// One attribute for each key.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com")]
#[kube(version = "v1alpha2")]
#[kube(kind = "Piecemeal")]
#[kube(namespaced)]
#[kube(shortname = "pm")]
#[kube(category = "pieces")]
#[kube(
    printcolumn = r#"{"name":"Piece", "type":"string", "jsonPath":".spec.piece", "description":"the piece"}"#
)]
#[kube(
    printcolumn = r#"{"jsonPath": ".spec.number", "type": "integer", "name": "Number", "priority": 2, "format": "int32"}"#
)]
#[kube(status = "PiecemealStatus")]
#[kube(scale = r#"{"specReplicasPath":".spec.number", "statusReplicasPath":".status.number"}"#)]
pub struct PiecemealSpec {
    pub piece: String,
    pub number: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PiecemealStatus {
    pub number: Option<i32>,
}

/// A scale in the older form with a selector.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Scaled", status = "ScaledStatus")]
#[kube(scale = r#"{
    "specReplicasPath": ".spec.copies",
    "statusReplicasPath": ".status.copies",
    "labelSelectorPath": ".status.selector"
}"#)]
pub struct ScaledSpec {
    pub copies: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ScaledStatus {
    pub copies: i32,
    pub selector: Option<String>,
}

/// A scale without a selector.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "ScaledPlain",
    status = "ScaledStatus",
    scale(spec_replicas_path = ".spec.copies", status_replicas_path = ".status.copies")
)]
pub struct ScaledPlainSpec {
    pub copies: i32,
}

/// Deprecated with words.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1beta1",
    kind = "Outdated",
    deprecated = "Use something else: \"newer\""
)]
pub struct OutdatedSpec {
    pub value: Option<String>,
}

/// Deprecated without words.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Silent", deprecated)]
pub struct SilentSpec {
    pub value: Option<String>,
}

/// Fields at the root.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Rootless", namespaced, no_spec)]
#[kube(printcolumn(name = "Region", type_ = "string", json_path = ".region"))]
#[serde(rename_all = "camelCase")]
pub struct RootlessSpec {
    /// Where it is.
    pub region: String,
    pub storage_class: Option<String>,
    #[serde(default)]
    pub versioned: bool,
}

/// Fields at the root, and a status.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "RootlessStatus",
    status = "EverythingStatus",
    no_spec,
    doc = "No spec, but a status"
)]
pub struct RootlessStatusSpec {
    pub data: std::collections::BTreeMap<String, String>,
}

/// Rules for the whole object.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "Ruled",
    validation = "self.metadata.name.size() <= 20",
    validation = Rule::new("self.spec.low <= self.spec.high").message("low must not exceed high")
)]
pub struct RuledSpec {
    pub low: i32,
    pub high: i32,
}

/// Rules for the whole object and for the spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "RuledTwice",
    status = "EverythingStatus",
    namespaced
)]
#[kube(validation = ("self.metadata.name != 'default'", "the name is taken"))]
#[x_kube(validation = "self.low <= self.high")]
pub struct RuledTwiceSpec {
    pub low: i32,
    #[x_kube(validation = ("self >= 0", "must not be negative"))]
    pub high: i32,
}

/// Crates by their names.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "Crated",
    crates(
        kube_core = "::kube::core",
        k8s_openapi = "::k8s_openapi",
        schemars = "::schemars",
        serde = "::serde",
        serde_json = "::serde_json",
        std = "::std"
    )
)]
pub struct CratedSpec {
    pub value: String,
}

/// The schema said to be derived.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Derived", schema = "derived")]
pub struct DerivedSpec {
    pub value: String,
}

/// Plurals that kube makes.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Policy")]
pub struct PolicySpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Gateway")]
pub struct GatewaySpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Batch")]
pub struct BatchSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "MatrixBox")]
pub struct MatrixBoxSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Quiz")]
pub struct QuizSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Endpoints", singular = "endpoint")]
pub struct EndpointsSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Datum", plural = "data")]
pub struct DatumSpec {}

/// A root of another name, by which the title goes.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "resource.example.com", version = "v1", kind = "Alias", root = "AliasResource")]
pub struct AliasSpec {
    pub value: u8,
}

/// A spec whose name does not end in Spec.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "Named",
    doc = "# A title\n\nAnd words below it."
)]
pub struct WhatIsNamed {
    pub value: u8,
}

/// A status that lives elsewhere, given by a path.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "PathStatus",
    status = "crate::plain::WithStatusStatus"
)]
pub struct PathStatusSpec {
    pub value: u8,
}

/// A scale, which without a status is not written.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "resource.example.com",
    version = "v1",
    kind = "ScaleWithoutStatus",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas")
)]
pub struct ScaleWithoutStatusSpec {
    pub replicas: i32,
}
