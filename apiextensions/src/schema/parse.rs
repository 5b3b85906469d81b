//! Reads schemas from JSON.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use super::{Additional, ExternalDocs, Keyword, Kind, Names, Number, Pattern, Rule, Schema};

/// Schemas nested deeper than this are refused: walks recurse along the schema.
pub const MAX_SCHEMA_DEPTH: usize = 100;

/// The reason why a schema is malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaError {
    /// A keyword has a value of the wrong type; the path leads to it.
    WrongType {
        /// The path of the keyword.
        path: String,
        /// The expected form.
        expected: &'static str,
    },
    /// The schema is nested too deeply.
    TooDeep,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongType { path, expected } => write!(f, "{path}: expected {expected}"),
            Self::TooDeep => write!(f, "the schema is nested deeper than {MAX_SCHEMA_DEPTH} levels"),
        }
    }
}

impl std::error::Error for SchemaError {}

impl Schema {
    /// Reads a schema. Null is as good as absent, and so is empty text where Go has a string. Unknown keywords are dropped, as
    /// API servers do; those that they refuse are listed in [`Schema::refused`].
    ///
    /// # Errors
    /// A keyword of the wrong type, or a schema nested deeper than [`MAX_SCHEMA_DEPTH`].
    pub fn parse(schema: &Value) -> Result<Self, SchemaError> {
        Reader::default().node(schema).map(|node| *node)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The state of a parse: its position, and compiled patterns, as the same one often occurs repeatedly.
#[derive(Default)]
pub(super) struct Reader {
    path: Vec<String>,
    depth: usize,
    patterns: HashMap<String, Pattern>,
}

impl Reader {
    /// A reader of one keyword's value.
    pub(super) fn at(keyword: &str) -> Self {
        Self { path: vec![keyword.to_owned()], ..Self::default() }
    }

    fn wrong(&self, expected: &'static str) -> SchemaError {
        SchemaError::WrongType { path: self.path.join("."), expected }
    }

    fn below<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(key.to_owned());
        let result = read(self);
        self.path.pop();
        result
    }

    /// Boxed, so that the frames of this recursion stay small.
    fn node(&mut self, value: &Value) -> Result<Box<Schema>, SchemaError> {
        if self.depth > MAX_SCHEMA_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        self.depth += 1;
        let node = self.keywords(value);
        self.depth -= 1;
        node
    }

    fn keywords(&mut self, value: &Value) -> Result<Box<Schema>, SchemaError> {
        let map = value.as_object().ok_or_else(|| self.wrong("an object"))?;
        let mut node = Box::<Schema>::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            self.below(key, |reader| node.set(key, value, reader))?;
        }
        Ok(node)
    }
}

/// The value of a keyword.
pub(super) trait KeywordValue: Sized + Default + PartialEq {
    /// Parses the value.
    ///
    /// # Errors
    /// Returns an error if it has the wrong type.
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError>;

    /// Reports whether the keyword is present.
    fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// The value of a keyword that limits a size.
    fn count(&self) -> Option<i64> {
        None
    }
}

impl KeywordValue for Option<String> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let text = value.as_str().ok_or_else(|| reader.wrong("a string"))?;
        let is_word = || {
            reader.path.last().and_then(|name| Keyword::named(name)).is_some_and(|it| it.kind == Kind::Word)
        };
        Ok((!text.is_empty() || is_word()).then(|| text.to_owned()))
    }
}

impl KeywordValue for bool {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        value.as_bool().ok_or_else(|| reader.wrong("a boolean"))
    }
}

impl KeywordValue for Option<i64> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        value.as_i64().map(Some).ok_or_else(|| reader.wrong("an integer"))
    }

    fn count(&self) -> Option<i64> {
        *self
    }
}

impl KeywordValue for Option<Number> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let number = value.as_number().ok_or_else(|| reader.wrong("a number"))?;
        Ok(Some(number.clone().into()))
    }
}

impl KeywordValue for Option<Value> {
    fn read(value: &Value, _: &mut Reader) -> Result<Self, SchemaError> {
        Ok(Some(value.clone()))
    }
}

impl KeywordValue for Option<Vec<Value>> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let values = list(value, reader)?;
        Ok((!values.is_empty()).then(|| values.clone()))
    }
}

impl KeywordValue for Option<Pattern> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let Some(source) = Option::<String>::read(value, reader)? else { return Ok(None) };
        let known = reader.patterns.entry(source).or_insert_with_key(|source| Pattern::new(source));
        Ok(Some(known.clone()))
    }
}

impl KeywordValue for Vec<String> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(|| reader.wrong("a string"));
        list(value, reader)?.iter().map(text).collect()
    }
}

impl KeywordValue for Names {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        Vec::read(value, reader).map(Self::in_order)
    }
}

impl KeywordValue for Option<Box<Schema>> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        reader.node(value).map(Some)
    }
}

impl KeywordValue for Vec<Schema> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        list(value, reader)?.iter().map(|schema| reader.node(schema).map(|node| *node)).collect()
    }
}

impl KeywordValue for BTreeMap<String, Arc<Schema>> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let map = value.as_object().ok_or_else(|| reader.wrong("an object"))?;
        let property = |(name, schema): (&String, &Value)| {
            let schema = reader.below(name, |reader| reader.node(schema))?;
            Ok((name.clone(), Arc::from(schema)))
        };
        map.iter().map(property).collect()
    }
}

impl KeywordValue for Option<Additional> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        Ok(Some(match value {
            Value::Bool(allowed) => Additional::Allowed(*allowed),
            schema => Additional::Schema(reader.node(schema)?),
        }))
    }
}

impl KeywordValue for Option<ExternalDocs> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        let map = value.as_object().ok_or_else(|| reader.wrong("an object"))?;
        let text = |name: &str| map.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Some(ExternalDocs { description: text("description"), url: text("url") }))
    }
}

impl KeywordValue for Vec<Rule> {
    fn read(value: &Value, reader: &mut Reader) -> Result<Self, SchemaError> {
        list(value, reader)?.iter().map(|rule| self::rule(rule, reader)).collect()
    }
}

fn rule(value: &Value, reader: &Reader) -> Result<Rule, SchemaError> {
    let map = value.as_object().ok_or_else(|| reader.wrong("a list of rules"))?;
    let text = |name: &str| match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(reader.wrong("strings in each rule")),
    };
    let set_text = |name: &str| text(name).map(|text| text.filter(|text| !text.is_empty()));
    Ok(Rule {
        rule: text("rule")?.unwrap_or_default(),
        message: set_text("message")?,
        message_expression: set_text("messageExpression")?,
        // Go has a pointer to it.
        reason: text("reason")?,
        field_path: set_text("fieldPath")?,
        optional_old_self: map.get("optionalOldSelf").and_then(Value::as_bool),
    })
}

fn list<'v>(value: &'v Value, reader: &Reader) -> Result<&'v Vec<Value>, SchemaError> {
    value.as_array().ok_or_else(|| reader.wrong("a list"))
}
