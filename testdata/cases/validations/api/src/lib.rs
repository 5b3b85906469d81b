//! Every kind of validation that a schema knows.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Gate lets people in.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "castle.example.com", version = "v1", status)]
#[resource(scale(spec_path = ".spec.guards", status_path = ".status.guards"))]
#[validation(rule(rule = "self.metadata.name != 'moat'", message = "a moat is no gate"))]
#[genclient]
pub struct Gate {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: GateSpec,
    /// What was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GateStatus>,
}

/// What is wanted of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[validation(rule(
    rule = "self.guards <= self.most",
    message_expression = "self.most > 3 ? 'too many guards' : 'only few guards'",
    reason = "FieldValueForbidden",
    field_path = ".guards"
))]
pub struct GateSpec {
    /// Bounds on both sides.
    #[validation(minimum = 0, maximum = 10)]
    pub guards: i32,
    /// A bound that a rule knows of.
    #[schema(default = 5)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<i32>,
    /// Bounds that are not reached, and steps.
    #[validation(minimum = 0, exclusive_minimum, maximum = 100, exclusive_maximum, multiple_of = 5)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    /// Lengths and a pattern.
    #[validation(min_length = 2, max_length = 8, pattern = "^[a-z]+$")]
    pub motto: String,
    /// A Rust enum.
    #[serde(default)]
    pub mode: Mode,
    /// A text out of a list.
    #[validation(enum("oak", "iron"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Formats.
    #[validation(format = "ipv4")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Another format.
    #[validation(format = "date-time")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
    /// A list with keys, and rules of its items.
    #[schema(list_type = "map", list_map_key = "name")]
    #[validation(max_items = 3)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<Lock>,
    /// A set, and what holds of its items.
    #[schema(list_type = "set")]
    #[validation(max_items = 4, items(max_length = 5))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colors: Vec<String>,
    /// A list whose items have no identity.
    #[validation(min_items = 1, max_items = 4)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    /// A map with a bound.
    #[validation(max_properties = 2)]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub signs: BTreeMap<String, Sign>,
    /// One of several fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// An enum that holds something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toll: Option<Toll>,
    /// What never changes.
    #[schema(immutable)]
    #[validation(max_length = 10)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builder: Option<String>,
    /// What only grows.
    #[validation(rule(rule = "self >= oldSelf", message = "must not shrink", reason = "FieldValueInvalid"))]
    #[serde(default)]
    pub height: i32,
    /// What begins at nought.
    #[validation(rule(
        rule = "oldSelf.hasValue() ? self >= oldSelf.value() : self == 0",
        message = "begins at nought",
        optional_old_self = true
    ))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visitors: Option<i32>,
    /// A number or a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<IntOrString>,
    /// Absent, null or a text.
    #[schema(nullable)]
    #[validation(max_length = 4)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Option<String>>,
    /// Whatever one likes.
    #[schema(schemaless, preserve_unknown_fields)]
    #[validation(type = "object")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
    /// An object of another kind.
    #[schema(schemaless, embedded_resource, preserve_unknown_fields)]
    #[validation(type = "object")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statue: Option<Value>,
}

/// How a gate stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Mode {
    /// Wide open.
    #[default]
    Open,
    /// Closed.
    Shut,
}

/// A lock of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Lock {
    /// Which one.
    #[validation(min_length = 1, max_length = 4)]
    pub name: String,
    /// How many turns of the key.
    #[validation(minimum = 1, rule(rule = "self == oldSelf", message = "the lock is built in"))]
    pub turns: i32,
}

/// A step on the way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(rule(rule = "self.low <= self.high", message = "upside down"))]
pub struct Step {
    /// Where it begins.
    pub low: i32,
    /// Where it ends.
    #[validation(maximum = 9)]
    pub high: i32,
}

/// A sign at the gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Sign {
    /// What stands on it.
    #[validation(min_length = 1)]
    pub text: String,
}

/// Where the gate leads to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(exactly_one_of("road", "river"))]
pub struct Way {
    /// A road.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub road: Option<String>,
    /// A river.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub river: Option<String>,
}

/// What must be paid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum Toll {
    /// In coins.
    Coins(i32),
    /// In kind.
    Goods {
        /// What.
        name: String,
    },
}

/// What was seen of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[validation(rule(
    rule = "self.phase != 'Abandoned' || self.guards == 0",
    message = "guards are still there"
))]
pub struct GateStatus {
    /// Its phase.
    #[validation(enum("Manned", "Abandoned"))]
    pub phase: String,
    /// Who was counted.
    #[validation(rule(rule = "self - oldSelf < 5", message = "too many at once"))]
    pub guards: i32,
    /// What is the case.
    #[schema(list_type = "map", list_map_key = "type")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Wall stands around all.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "castle.example.com", version = "v1", scope = "Cluster")]
#[policy(
    name = "a-length.castle.example.com",
    match_condition(
        name = "not-ruins",
        expression = "!has(object.metadata.labels) || !('ruin' in object.metadata.labels)"
    ),
    variable(name = "most", expression = "100"),
    variable(name = "friend", expression = "request.userInfo.username != 'foe'"),
    validation(
        expression = "object.spec.length <= variables.most",
        message_expression = "'a wall is not longer than ' + string(variables.most)"
    ),
    validation(expression = "object.spec.length != 13", message = "13 is unlucky"),
    validation(expression = "variables.friend", message = "foes build no walls"),
    audit_annotation(key = "length", value_expression = "string(object.spec.length)")
)]
#[policy(
    name = "b-growth.castle.example.com",
    verbs = "update",
    validation(
        expression = "object.spec.length >= oldObject.spec.length",
        message = "walls do not shrink",
        reason = "Forbidden"
    )
)]
#[policy(
    name = "c-optional.castle.example.com",
    validation(expression = "object.metadata.annotations['height'] != '0'")
)]
#[policy(
    name = "d-warning.castle.example.com",
    validation(expression = "false"),
    binding(validation_actions = "Warn")
)]
#[genclient(non_namespaced)]
pub struct Wall {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: WallSpec,
}

/// What is wanted of a wall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WallSpec {
    /// How long it is.
    #[validation(minimum = 1)]
    pub length: i32,
}
