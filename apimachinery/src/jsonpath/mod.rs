//! JSONPath of printer columns and of `kubectl -o jsonpath`: client-go's `util/jsonpath`.
//!
//! A template is text with actions in braces. In an action, `.name` and `['name']` select a field, `[0]`, `[-1]` and
//! `[from:to:step]` items, `[*]` and `.*` all items, `['a','b']` several places, `..` every value below, and
//! `[?(@.type=="Ready")]` the items for which the comparison holds. A dot in a name needs a backslash, in brackets too.
//!
//! The keywords `range` and `end` parse, but evaluation stops there: a column shows the first value of the first action.

mod compare;
mod evaluate;
mod parse;
#[cfg(test)]
mod tests;
mod unquote;

use serde_json::Value;

pub use evaluate::EvaluateError;
pub use parse::ParseError;

use crate::golang;
use parse::{Block, Parser};

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    blocks: Vec<Block>,
}

impl JsonPath {
    /// Parses a template: `{.metadata.name} is {.status.phase}`.
    ///
    /// # Errors
    /// An action is malformed; client-go refuses it too.
    pub fn parse(template: &str) -> Result<Self, ParseError> {
        Parser::new(template).blocks().map(|blocks| Self { blocks })
    }

    /// Parses the path of a printer column, which is an action without its braces: `.status.phase`.
    ///
    /// # Errors
    /// The path is malformed. An API server accepts the definition, but shows neither this column nor those after it.
    pub fn parse_column(path: &str) -> Result<Self, ParseError> {
        Self::parse(&format!("{{{path}}}"))
    }

    /// Returns what each block, a text or an action, finds in a value. Missing fields are no error (`AllowMissingKeys`).
    /// The values of an object are in the order of its keys.
    ///
    /// # Errors
    /// An index is out of bounds, a value is not a list, or values cannot be compared. client-go stops there too.
    pub fn find_results<'a>(&'a self, root: &'a Value) -> Result<Vec<Vec<Found<'a>>>, EvaluateError> {
        self.blocks.iter().map(|block| evaluate::block(block, root)).collect()
    }
}

/// A result of a path: usually a part of the object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// A part of the object.
    Value(&'a Value),
    /// A text of the template.
    Text(&'a str),
    /// An integer of the template.
    Int(i64),
    /// Another number of the template.
    Float(f64),
    /// A boolean of the template.
    Bool(bool),
    /// A byte of a string, which is an item of a string in Go.
    Byte(u8),
}

impl Found<'_> {
    /// Prints like client-go's `PrintResults`: a string without quotes, an object or list as JSON.
    #[must_use]
    pub fn print(&self) -> String {
        match self {
            // text/template prints a nil value so.
            Found::Value(Value::Null) => "<no value>".to_owned(),
            Found::Value(Value::Bool(value)) | Found::Bool(value) => value.to_string(),
            Found::Value(Value::Number(number)) => golang::number(number),
            Found::Value(Value::String(text)) => text.clone(),
            Found::Value(value @ (Value::Array(_) | Value::Object(_))) => golang::json(value),
            Found::Text(text) => (*text).to_owned(),
            Found::Int(value) => value.to_string(),
            Found::Float(value) => golang::float(*value),
            Found::Byte(value) => value.to_string(),
        }
    }
}
