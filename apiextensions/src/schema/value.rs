//! Values of keywords that have parts.

use serde::Serialize;

use super::Schema;

/// The rule that merges a list and makes its items unique (`x-kubernetes-list-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// One value as a whole.
    Atomic,
    /// Unique scalars.
    Set,
    /// Objects with a key.
    Map,
}

/// The rule that merges an object (`x-kubernetes-map-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapType {
    /// One value as a whole.
    Atomic,
    /// Field by field; the default.
    Granular,
}

/// `additionalProperties`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Additional {
    /// `true` or `false`.
    Allowed(bool),
    /// The schema of each value.
    Schema(Box<Schema>),
}

/// `externalDocs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExternalDocs {
    /// The expected value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Reasons that a rule may name.
pub const RULE_REASONS: &[&str] =
    &["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

/// One entry of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The expression that must be true.
    pub rule: String,
    /// The fixed message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The expression that yields the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_expression: Option<String>,
    /// The reason of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The field that the cause names, relative to the rule's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
    /// Whether `oldSelf` is an optional value that may be absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional_old_self: Option<bool>,
}

impl Rule {
    /// The members of a rule.
    pub const MEMBERS: &[&str] =
        &["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"];
}
