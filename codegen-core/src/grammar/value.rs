//! Defines the values of keys, each with its place.

use std::fmt;

use proc_macro2::Span;

use super::Entry;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value at a place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Another value at the same place.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    /// Compares the values, ignoring places.
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A number in JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Without a fraction.
    Int(i64),
    /// With a fraction, or too large for an integer; always finite.
    Float(f64),
}

impl Number {
    /// The number as floating point, for comparisons.
    #[allow(clippy::cast_precision_loss, reason = "bounds beyond 2^53 are compared approximately")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(n) => n as f64,
            Self::Float(f) => f,
        }
    }

    /// The number as a value.
    pub fn to_value(self) -> serde_json::Value {
        match self {
            Self::Int(number) => number.into(),
            Self::Float(number) => number.into(),
        }
    }

    /// Whether it has no fraction.
    pub fn is_integral(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Float(f) => f.fract() == 0.0,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
        }
    }
}

/// A literal, written like JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`, `-0.5`
    Number(Number),
    /// `"text"`
    String(String),
    /// `[1, 2]`
    Array(Vec<Json>),
    /// `{}` of a marker: an empty list or object, depending on the type.
    Empty,
    /// `{"a": 1}`; keys keep their order and are unique.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads JSON; `None` for invalid text or a number of more than 64 bits.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_value(&serde_json::from_str(text).ok()?)
    }

    pub(crate) fn from_value(value: &serde_json::Value) -> Option<Self> {
        use serde_json::Value;
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(n) => Self::Number(match (n.as_i64(), n.as_f64()) {
                (Some(n), _) => Number::Int(n),
                (None, Some(float)) if !n.is_u64() => Number::Float(float),
                _ => return None,
            }),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from_value).collect::<Option<_>>()?),
            Value::Object(members) => {
                let member =
                    |(name, value): (&String, &Value)| Some((name.clone(), Self::from_value(value)?));
                Self::Object(members.iter().map(member).collect::<Option<_>>()?)
            }
        })
    }

    /// The literal as a value, with members sorted by name.
    pub fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Number(number) => number.to_value(),
            Self::String(text) => text.as_str().into(),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Empty => Value::Object(serde_json::Map::new()),
            Self::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), value.to_value())).collect())
            }
        }
    }

    /// The kind of value in words, with an article.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(n) if n.is_integral() => "an integer",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Empty | Self::Object(_) => "an object",
        }
    }
}

impl fmt::Display for Json {
    /// Writes JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => b.fmt(f),
            Self::Number(n) => n.fmt(f),
            Self::String(s) => write_json_string(f, s),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Empty => f.write_str("{}"),
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    write_json_string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_json_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if u32::from(c) < 0x20 => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// The value of an [`Entry`], of its key's shape.
#[derive(Clone, Debug)]
pub enum Value {
    /// An error has been reported; the entry only records that the key is present.
    Invalid,
    /// A flag.
    Flag,
    /// `Shape::Bool`
    Bool(Spanned<bool>),
    /// `Shape::String`, `Shape::OneOf` and `Shape::Word`
    String(Spanned<String>),
    /// `Shape::Strings`, `Shape::List` and `Shape::SomeOf`
    Strings(Vec<Spanned<String>>),
    /// `Shape::StringMap`
    StringMap(Vec<(Spanned<String>, Spanned<String>)>),
    /// `Shape::Integer`
    Integer(Spanned<i64>),
    /// `Shape::Unsigned`
    Unsigned(Spanned<u64>),
    /// `Shape::Number`
    Number(Spanned<Number>),
    /// `Shape::Json` and `Shape::JsonOrRef`
    Json(Spanned<Json>),
    /// `Shape::JsonOrRef`: the path of a constant.
    Reference(Spanned<String>),
    /// `Shape::Jsons`
    Jsons(Vec<Spanned<Json>>),
    /// `Shape::Nested` and `Shape::FlagOrNested`
    Nested(Vec<Entry>),
}
