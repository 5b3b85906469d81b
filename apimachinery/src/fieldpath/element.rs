//! One step of a path, and its text in `fieldsV1` and in conflicts.

use std::fmt;

use serde_json::{Map, Value};

use crate::golang;

/// One step of a path into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// `f:name`: a field of a structure or an entry of a map.
    Field(String),
    /// `k:{"name":"web"}`: the item of a list map with these key fields (canonical JSON).
    Key(String),
    /// `v:"blue"`: the item of a set (canonical JSON).
    Value(String),
    /// `i:0`: an item by its place.
    Index(usize),
}

/// `fieldsV1` that cannot be read; [`Set`](super::Set) has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` in fieldsV1 {problem}")]
pub struct FieldsError {
    at: String,
    problem: &'static str,
}

impl FieldsError {
    pub(super) fn new(at: &str, problem: &'static str) -> Self {
        /// The length limit of a text in a message.
        const SHOWN: usize = 60;
        let at = match at.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &at[..end]),
            None => at.to_owned(),
        };
        Self { at, problem }
    }
}

impl PathElement {
    /// The item of a set.
    #[must_use]
    pub fn value(value: &Value) -> Self {
        Self::Value(golang::json(value))
    }

    /// The item of a list map.
    #[must_use]
    pub fn key(fields: Map<String, Value>) -> Self {
        Self::Key(golang::json(&Value::Object(fields)))
    }

    /// The key fields of the item of a list map.
    #[must_use]
    pub fn key_fields(&self) -> Option<Map<String, Value>> {
        match self {
            Self::Key(key) => serde_json::from_str(key).ok(),
            _ => None,
        }
    }

    pub(super) fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(key) => format!("k:{key}"),
            Self::Value(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// Reads `f:name`, `k:{...}`, `v:...` or `i:0`; `None` for another letter, which a later server may have
    /// (`ErrUnknownPathElementType`).
    pub(super) fn decode(text: &str) -> Result<Option<Self>, FieldsError> {
        let failed = |problem| FieldsError::new(text, problem);
        let (letter, rest) = text.split_once(':').ok_or_else(|| failed("has no `:`"))?;
        Ok(Some(match letter {
            "f" => Self::Field(rest.to_owned()),
            "k" => match serde_json::from_str(rest) {
                Ok(Value::Object(key)) if !key.is_empty() => Self::key(key),
                _ => return Err(failed("has no key fields as a JSON object")),
            },
            "v" => Self::value(&serde_json::from_str(rest).map_err(|_| failed("is not a JSON value"))?),
            "i" => Self::Index(rest.parse().map_err(|_| failed("is not an index"))?),
            _ => return Ok(None),
        }))
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Value| match value {
            Value::String(s) => golang::quote(s),
            other => golang::json(other),
        };
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(_) => {
                let fields = self.key_fields().unwrap_or_default();
                let parts: Vec<String> = fields.iter().map(|(k, v)| format!("{k}={}", shown(v))).collect();
                write!(f, "[{}]", parts.join(","))
            }
            Self::Value(value) => {
                let value: Value = serde_json::from_str(value).unwrap_or_default();
                write!(f, "[={}]", shown(&value))
            }
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A path as conflicts show it: `.spec.ports[name="web"].port`.
#[must_use]
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(PathElement::to_string).collect()
}
