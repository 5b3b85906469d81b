//! JSONPath as printer columns have it: that of client-go's `util/jsonpath`, in which kubectl's `-o jsonpath` is written too.
//!
//! It is a template: text, and actions in braces. In an action, `.name` is a field and `['name']` the same, `[0]`, `[-1]` and
//! `[from:to:step]` are items, `[*]` and `.*` all of them, `['a','b']` several places at once, `..` every value below, and
//! `[?(@.type=="Ready")]` those items that compare so. A dot in a name has a backslash before it, in brackets too.
//!
//! The keywords `range` and `end` are read, and nothing is evaluated behind them: a column shows the first value of the first
//! action.

mod compare;
mod evaluate;
mod parse;
#[cfg(test)]
mod tests;
mod unquote;

use serde_json::Value;

pub use evaluate::EvaluateError;
pub use parse::ParseError;

use crate::field::golang;
use parse::{Block, Parser};

/// A template that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    blocks: Vec<Block>,
}

impl JsonPath {
    /// Reads a template: `{.metadata.name} is {.status.phase}`.
    ///
    /// # Errors
    /// An action cannot be read; client-go refuses it too.
    pub fn parse(template: &str) -> Result<Self, ParseError> {
        Parser::new(template).blocks().map(|blocks| Self { blocks })
    }

    /// Reads the path of a printer column, which is the inside of an action: `.status.phase`.
    ///
    /// # Errors
    /// It cannot be read: an API server takes the definition, and shows neither this column nor those after it.
    pub fn parse_column(path: &str) -> Result<Self, ParseError> {
        Self::parse(&format!("{{{path}}}"))
    }

    /// What each block, a text or an action, finds in a value. Fields that are not there are no error (`AllowMissingKeys`).
    /// The values of an object come in the order of its keys.
    ///
    /// # Errors
    /// An index is out of bounds, something is no list, values cannot be compared: client-go stops there too.
    pub fn find_results<'a>(&'a self, root: &'a Value) -> Result<Vec<Vec<Found<'a>>>, EvaluateError> {
        self.blocks.iter().map(|block| evaluate::block(block, root)).collect()
    }
}

/// What a path finds: mostly a part of the object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// A part of the value that is looked through.
    Value(&'a Value),
    /// A text of the template.
    Text(&'a str),
    /// An integer of the template.
    Int(i64),
    /// Another number of the template.
    Float(f64),
    /// A boolean of the template.
    Bool(bool),
    /// A byte of a string: the items of a string, in Go.
    Byte(u8),
}

impl Found<'_> {
    /// As client-go's `PrintResults` writes it: texts as they are, objects and lists as JSON.
    #[must_use]
    pub fn print(&self) -> String {
        match self {
            // Of what is no value at all, text/template says this.
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
