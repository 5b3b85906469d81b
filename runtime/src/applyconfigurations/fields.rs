//! Sets of fields as `managedFields` writes them: the first JSON form of structured-merge-diff's sets, `FieldsV1`.

use serde_json::{Map, Value};

/// A step of the way to a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathElement {
    /// `f:name`: a field of a struct, or a key of a map.
    Field(String),
    /// `k:{"name":"web"}`: the item of a list whose key fields have these values.
    Key(Map<String, Value>),
    /// `v:"blue"`: the item of a set that has this value.
    Value(Value),
    /// `i:0`: the item of a list at this place.
    Index(u64),
}

/// Fields that belong to somebody: a tree of path elements, in the order in which they were written.
///
/// ```
/// use kubesmith_runtime::applyconfigurations::FieldSet;
///
/// let fields = serde_json::json!({"f:spec": {"f:ports": {"k:{\"name\":\"web\"}": {".": {}, "f:port": {}}}}});
/// let set = FieldSet::parse(&fields).unwrap();
/// assert!(!set.is_leaf());
/// assert!(FieldSet::parse(&serde_json::json!({"k:web": {}})).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldSet {
    children: Vec<(PathElement, FieldSet)>,
}

/// `fieldsV1` that cannot be read; [`FieldSet`] has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` in fieldsV1 {problem}")]
pub struct FieldsError {
    at: String,
    problem: &'static str,
}

impl FieldSet {
    /// Reads the value of `fieldsV1`. Kinds of path elements that are not known are left out, as client-go does.
    ///
    /// # Errors
    /// Names the first part that is no `FieldsV1`.
    pub fn parse(fields: &Value) -> Result<Self, FieldsError> {
        let Value::Object(entries) = fields else {
            return Err(FieldsError { at: shortened(&fields.to_string()), problem: "is no object" });
        };
        let mut children = Vec::with_capacity(entries.len());
        // `.` says of the set itself that it is a member; what has members below it counts by these.
        for (name, below) in entries.iter().filter(|(name, _)| *name != ".") {
            if let Some(element) = PathElement::parse(name)? {
                children.push((element, Self::parse(below)?));
            }
        }
        Ok(Self { children })
    }

    /// Whether nothing lies below: the field belongs to the owner as a whole.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// What lies below a field.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let found = self
            .children
            .iter()
            .find(|(element, _)| matches!(element, PathElement::Field(field) if field == name));
        found.map(|(_, below)| below)
    }

    /// What lies below the item of a list, and how the item is named.
    pub(super) fn item(&self, at: usize, item: &Value) -> Option<(&PathElement, &Self)> {
        let found = self.children.iter().find(|(element, _)| element.is_item(at, item));
        found.map(|(element, below)| (element, below))
    }
}

impl PathElement {
    /// Reads `f:name`, `k:{...}`, `v:...` or `i:0`; `None` for another letter.
    fn parse(text: &str) -> Result<Option<Self>, FieldsError> {
        let failed = |problem| FieldsError { at: shortened(text), problem };
        let Some((letter, rest)) = text.split_once(':') else {
            return Err(failed("has no `:`"));
        };
        match letter {
            "f" => Ok(Some(Self::Field(rest.to_owned()))),
            "k" => match serde_json::from_str(rest) {
                Ok(Value::Object(key)) if !key.is_empty() => Ok(Some(Self::Key(key))),
                _ => Err(failed("has no key fields as a JSON object")),
            },
            "v" => match serde_json::from_str(rest) {
                Ok(value) => Ok(Some(Self::Value(value))),
                Err(_) => Err(failed("is no JSON value")),
            },
            "i" => match rest.parse() {
                Ok(index) => Ok(Some(Self::Index(index))),
                Err(_) => Err(failed("is no index")),
            },
            _ => Ok(None),
        }
    }

    fn is_item(&self, at: usize, item: &Value) -> bool {
        match self {
            Self::Field(_) => false,
            Self::Key(key) => {
                key.iter().all(|(name, value)| item.get(name).is_some_and(|it| equal(it, value)))
            }
            Self::Value(value) => equal(item, value),
            Self::Index(index) => u64::try_from(at).is_ok_and(|at| at == *index),
        }
    }
}

/// Equality of values for a server: `1` and `1.0` are one number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// As much of a text as a message can hold.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
