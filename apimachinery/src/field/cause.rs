//! Errors of fields in kube-apiserver's words: apimachinery's `field.Error`.
//!
//! A [`Cause`] is one entry of `status.details.causes`. Lists of causes keep the order in which the checks run.
//! [`invalid_message`] is the message of the `Status` that carries the causes.

use serde_json::Value;

use crate::{errors, golang};

/// The class of an error: the `reason` of a cause of a `Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CauseKind {
    /// A value is missing.
    Required,
    /// A value is repeated where values must be unique.
    Duplicate,
    /// A value breaks a rule.
    Invalid,
    /// A value is outside of the supported ones.
    NotSupported,
    /// A valid value is not permitted in this place or state.
    Forbidden,
    /// A string is too long; the value is not repeated in the message.
    TooLong,
    /// A list or map has too many entries.
    TooMany,
    /// A value has another type than the schema asks for.
    TypeInvalid,
    /// The object that a value refers to does not exist.
    NotFound,
    /// The check itself failed.
    Internal,
    /// An admission policy refuses the whole object; the message is the policy's.
    Denied,
}

impl CauseKind {
    /// The machine-readable reason of a cause; empty for [`CauseKind::Denied`], as in kube-apiserver's `Status`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotFound => "FieldValueNotFound",
            Self::Internal => "InternalError",
            Self::Denied => "",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::NotFound => "Not found",
            Self::Internal => "Internal error",
            Self::Denied => "",
        }
    }

    fn shows_value(self) -> bool {
        !matches!(self, Self::Required | Self::Forbidden | Self::TooLong | Self::Internal | Self::Denied)
    }
}

/// The value that a message shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValue {
    /// The message shows no value.
    Omitted,
    /// A JSON value, in Go's notation.
    Json(Value),
    /// Text that is shown as it is, for Go structures without a JSON form.
    Raw(String),
}

/// One error of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The path of the field, such as `spec.ports[0].name`; [`NO_FIELD`] if the error belongs to no field, empty for
    /// [`CauseKind::Denied`].
    pub field: String,
    /// The class of the error.
    pub kind: CauseKind,
    /// The wrong value.
    pub value: BadValue,
    /// The fault of the value; may be empty.
    pub detail: String,
}

/// The field of an error that belongs to no field.
pub const NO_FIELD: &str = "<nil>";

impl Cause {
    /// An error of any kind.
    pub fn new(
        kind: CauseKind,
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self { field: named(field.into()), kind, value: BadValue::Json(value.into()), detail: detail.into() }
    }

    /// A value that breaks a rule.
    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(CauseKind::Invalid, field, value, detail)
    }

    /// A value of the wrong type.
    pub fn type_invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(CauseKind::TypeInvalid, field, value, detail)
    }

    /// A missing value; `detail` may be empty.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(CauseKind::Required, field, "", detail)
    }

    /// A value that is not permitted in this place or state.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(CauseKind::Forbidden, field, "", detail)
    }

    /// A refusal by an admission policy, with the policy's message.
    pub fn denied(message: impl Into<String>) -> Self {
        let (kind, value) = (CauseKind::Denied, BadValue::Omitted);
        Self { field: String::new(), kind, value, detail: message.into() }
    }

    /// A value that is repeated.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(CauseKind::Duplicate, field, value, "")
    }

    /// A value outside of the supported ones.
    pub fn not_supported(field: impl Into<String>, value: impl Into<Value>, supported: &[String]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|v| golang::quote(v)).collect();
        let detail = match quoted.is_empty() {
            true => String::new(),
            false => format!("supported values: {}", quoted.join(", ")),
        };
        Self::new(CauseKind::NotSupported, field, value, detail)
    }

    /// A string longer than `max` bytes.
    pub fn too_long(field: impl Into<String>, max: i64) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        Self::new(CauseKind::TooLong, field, "", format!("may not be more than {max} {unit}"))
    }

    /// A list or map with more than `max` entries.
    pub fn too_many(field: impl Into<String>, actual: i64, max: i64) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        Self::new(CauseKind::TooMany, field, actual, format!("must have at most {max} {unit}"))
    }

    /// Shows this text, as it is, in place of the value.
    #[must_use]
    pub fn with_raw_value(mut self, text: impl Into<String>) -> Self {
        self.value = BadValue::Raw(text.into());
        self
    }

    /// Leaves the value out of the message.
    #[must_use]
    pub fn without_value(mut self) -> Self {
        self.value = BadValue::Omitted;
        self
    }

    /// The `reason` of the cause in a `Status`.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
    }

    /// The `message` of the cause in a `Status`: the text without the field.
    #[must_use]
    pub fn message(&self) -> String {
        let mut text = self.kind.title().to_owned();
        if self.kind.shows_value() {
            match &self.value {
                BadValue::Omitted => {}
                BadValue::Json(Value::String(s)) => text.push_str(&format!(": {}", golang::quote(s))),
                BadValue::Json(Value::Number(n)) => text.push_str(&format!(": {}", golang::number(n))),
                BadValue::Json(value) => text.push_str(&format!(": {}", golang::json(value))),
                BadValue::Raw(raw) => text.push_str(&format!(": {raw}")),
            }
        }
        if !self.detail.is_empty() {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&self.detail);
        }
        text
    }

    /// The entry of `status.details.causes`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({"reason": self.reason(), "message": self.message(), "field": self.field})
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            CauseKind::Denied => f.write_str(&self.detail),
            _ => write!(f, "{}: {}", self.field, self.message()),
        }
    }
}

fn named(field: String) -> String {
    if field.is_empty() { NO_FIELD.to_owned() } else { field }
}

/// Joins causes as [`crate::errors::aggregate`] joins errors.
#[must_use]
pub fn aggregate<'c>(causes: impl IntoIterator<Item = &'c Cause>) -> String {
    errors::aggregate(causes.into_iter().map(Cause::to_string))
}

/// The message of a `Status` with code 422. `kind` is `Kind.group`, or `Kind` in the core group.
#[must_use]
pub fn invalid_message<'c>(kind: &str, name: &str, causes: impl IntoIterator<Item = &'c Cause>) -> String {
    format!("{kind} {} is invalid: {}", golang::quote(name), aggregate(causes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cause_has_the_text_of_kube_apiserver() {
        assert_eq!(Cause::required("spec.name", "").to_string(), "spec.name: Required value");
        assert_eq!(Cause::invalid("a", "x\n", "bad").to_string(), "a: Invalid value: \"x\\n\": bad");
        assert_eq!(Cause::invalid("a", 1.5, "bad").message(), "Invalid value: 1.5: bad");
        assert_eq!(Cause::invalid("a", Value::Null, "").message(), "Invalid value: null");
        assert_eq!(
            Cause::invalid("a", json!({"k": "<"}), "d").message(),
            r#"Invalid value: {"k":"\u003c"}: d"#
        );
        assert_eq!(Cause::too_many("m", 3, 2).message(), "Too many: 3: must have at most 2 items");
        assert_eq!(Cause::too_long("m", 1).message(), "Too long: may not be more than 1 byte");
        assert_eq!(Cause::invalid("", "", "d").field, "<nil>");
        assert_eq!(Cause::denied("no").to_string(), "no");
        assert_eq!(Cause::denied("no").to_json(), json!({"reason": "", "message": "no", "field": ""}));
        let two = [Cause::required("a", ""), Cause::required("b", "")];
        assert_eq!(
            invalid_message("W.g", "n", &two),
            "W.g \"n\" is invalid: [a: Required value, b: Required value]"
        );
    }
}
