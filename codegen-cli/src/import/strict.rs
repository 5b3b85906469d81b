//! Reads a schema and reports the parts that reading would lose.

use kubesmith_apiextensions::schema::{Keyword, Kind, REFUSED_KEYWORDS};
use serde_json::Value;

use super::reader::remove;
use crate::schema::{Rule, Schema};
use kubesmith_apiextensions::diff::clean;

/// A part of a schema that cannot be imported.
#[derive(Debug)]
pub(super) struct Mistake {
    /// The path of keywords and names.
    pub(super) path: Vec<String>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// A schema with the errors in it.
#[derive(Debug)]
pub(super) struct Strict {
    /// The schema; `None` if there are errors.
    pub(super) schema: Option<Schema>,
    /// All errors in it.
    pub(super) mistakes: Vec<Mistake>,
    /// Keywords that an API server drops, by their paths.
    pub(super) unknown: Vec<Vec<String>>,
}

/// The deepest schema; the API server's limit is below that of a YAML parser.
const DEEPEST: usize = 100;

/// Reads a schema and reports all errors in it.
pub(super) fn read(schema: &Value) -> Strict {
    let mut walk = Walk { path: Vec::new(), mistakes: Vec::new(), unknown: Vec::new() };
    walk.schema(schema);
    let Walk { mut mistakes, unknown, .. } = walk;
    if !mistakes.is_empty() {
        return Strict { schema: None, mistakes, unknown };
    }
    let mut known = schema.clone();
    unknown.iter().for_each(|path| remove(&mut known, path));
    let read = Schema::parse(&clean(known)).map_err(|error| {
        let message = format!("the schema cannot be read: {error}");
        mistakes.push(Mistake { path: Vec::new(), message, help: "correct the value" });
    });
    Strict { schema: read.ok(), mistakes, unknown }
}

struct Walk {
    path: Vec<String>,
    mistakes: Vec<Mistake>,
    unknown: Vec<Vec<String>>,
}

impl Walk {
    fn wrong(&mut self, message: impl Into<String>, help: &'static str) {
        self.mistakes.push(Mistake { path: self.path.clone(), message: message.into(), help });
    }

    fn below(&mut self, step: &str, walk: impl FnOnce(&mut Self)) {
        self.path.push(step.to_string());
        walk(self);
        self.path.pop();
    }

    fn schema(&mut self, schema: &Value) {
        let Value::Object(members) = schema else {
            return self.wrong("a schema is an object", "write keywords and their values");
        };
        if self.path.len() > 2 * DEEPEST {
            return self.wrong("the schema is too deep", "API servers refuse such schemas");
        }
        for (keyword, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            self.below(keyword, |walk| walk.keyword(keyword, value));
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value) {
        let Some(row) = Keyword::named(keyword) else { return self.no_keyword(keyword) };
        let (fits, expected) = match row.kind {
            Kind::Schema if keyword == "items" && value.is_array() => {
                return self.wrong("`items` is a list", "API servers take one schema for all items");
            }
            Kind::Schema => return self.schema(value),
            Kind::Additional if value.is_boolean() => return,
            Kind::Additional => return self.schema(value),
            Kind::Properties => return self.properties(value),
            Kind::Schemas => return self.branches(value),
            Kind::Rules => return self.rules(value),
            Kind::Text | Kind::Word => (value.is_string(), "a string"),
            Kind::Flag => (value.is_boolean(), "true or false"),
            Kind::Count => (value.is_u64(), "an integer that is not negative"),
            Kind::Number => (value.is_number(), "a number"),
            Kind::Texts | Kind::Values => (value.is_array(), "a list"),
            Kind::Any | Kind::Docs => return,
        };
        if !fits {
            self.wrong(format!("`{keyword}` is not {expected}"), "correct the value");
        }
    }

    /// Refuses or drops an unknown keyword.
    fn no_keyword(&mut self, keyword: &str) {
        match keyword {
            "$ref" => self.wrong("`$ref` is refused by API servers", "write the schema in its place"),
            _ if REFUSED_KEYWORDS.contains(&keyword) => {
                self.wrong(format!("`{keyword}` is refused by API servers"), "say it in another way");
            }
            _ => self.unknown.push(self.path.clone()),
        }
    }

    fn properties(&mut self, value: &Value) {
        let Value::Object(found) = value else {
            return self.wrong("`properties` is not an object", "write names and schemas");
        };
        for (name, schema) in found {
            self.below(name, |walk| walk.schema(schema));
        }
    }

    fn branches(&mut self, value: &Value) {
        let Value::Array(items) = value else {
            return self.wrong("branches are a list", "write a list of schemas");
        };
        for (at, item) in items.iter().enumerate() {
            self.below(&at.to_string(), |walk| walk.schema(item));
        }
    }

    fn rules(&mut self, value: &Value) {
        let Value::Array(rules) = value else {
            return self.wrong("rules are a list", "write a list of rules");
        };
        for (at, rule) in rules.iter().enumerate() {
            self.below(&at.to_string(), |walk| match rule {
                Value::Object(members) => {
                    for name in members.keys().filter(|name| !Rule::MEMBERS.contains(&name.as_str())) {
                        walk.below(name, |walk| walk.unknown.push(walk.path.clone()));
                    }
                    if !members.get("rule").is_some_and(Value::is_string) {
                        walk.wrong("the rule has no expression", "add `rule`");
                    }
                }
                _ => walk.wrong("a rule is an object", "write `rule` and what belongs to it"),
            });
        }
    }
}
