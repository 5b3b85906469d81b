//! The schema of a custom resource, parsed from the JSON of `openAPIV3Schema`.

use std::collections::{BTreeMap, HashMap};

use kubesmith_goregex::Pattern;
use serde_json::{Map, Value};

/// Schemas nested deeper than this are refused: every walk below recurses along the schema.
pub const MAX_SCHEMA_DEPTH: usize = 100;

/// How a list merges and what makes its items unique (`x-kubernetes-list-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// One value as a whole.
    Atomic,
    /// Unique scalars.
    Set,
    /// Objects with a key.
    Map,
}

/// How an object merges (`x-kubernetes-map-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapType {
    /// One value as a whole.
    Atomic,
    /// Field by field; the default.
    Granular,
}

/// What `additionalProperties` says.
#[derive(Clone, Debug, PartialEq)]
pub enum Additional {
    /// `true` or `false`.
    Any(bool),
    /// The schema of each value.
    Schema(Box<Structural>),
}

/// One entry of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// The expression that must be true.
    pub rule: String,
    /// The fixed message.
    pub message: String,
    /// The expression that yields the message.
    pub message_expression: String,
    /// The reason of the cause.
    pub reason: Option<String>,
    /// The field that the cause names, relative to the rule's place.
    pub field_path: String,
    /// Whether `oldSelf` is an optional value that may be absent.
    pub optional_old_self: Option<bool>,
}

impl Rule {
    /// The rule as the server prints it when it refuses it (a Go structure written as JSON).
    #[must_use]
    pub fn to_go_json(&self) -> String {
        let string = super::golang::json_string;
        let reason = self.reason.as_deref().map_or("null".to_owned(), string);
        let optional = self.optional_old_self.map_or("null".to_owned(), |b| b.to_string());
        format!(
            "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{reason},\"FieldPath\":{},\"OptionalOldSelf\":{optional}}}",
            string(&self.rule),
            string(&self.message),
            string(&self.message_expression),
            string(&self.field_path),
        )
    }
}

/// A node of a schema. The same type serves for the structural part and for what stands below `allOf`, `anyOf`,
/// `oneOf` and `not`; [`super::crd`] tells where which keyword may stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structural {
    /// `type`, empty if there is none.
    pub type_: String,
    /// `format`, empty if there is none.
    pub format: String,
    /// `title`.
    pub title: String,
    /// `description`.
    pub description: String,
    /// `nullable`.
    pub nullable: bool,
    /// `default`.
    pub default: Option<Value>,
    /// `items` as one schema.
    pub items: Option<Box<Structural>>,
    /// `properties`.
    pub properties: BTreeMap<String, Structural>,
    /// `additionalProperties`.
    pub additional_properties: Option<Additional>,
    /// `x-kubernetes-preserve-unknown-fields`; `false` is refused by the server, so it is kept apart from absence.
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-list-type` as written.
    pub list_type: Option<String>,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type` as written.
    pub map_type: Option<String>,
    /// `x-kubernetes-validations`.
    pub rules: Vec<Rule>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `maxLength`, in characters.
    pub max_length: Option<i64>,
    /// `minLength`, in characters.
    pub min_length: Option<i64>,
    /// `pattern`.
    pub pattern: Option<Pattern>,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `uniqueItems`.
    pub unique_items: bool,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `required`.
    pub required: Vec<String>,
    /// `enum`.
    pub enum_values: Vec<Value>,
    /// `allOf`.
    pub all_of: Vec<Structural>,
    /// `anyOf`.
    pub any_of: Vec<Structural>,
    /// `oneOf`.
    pub one_of: Vec<Structural>,
    /// `not`.
    pub not: Option<Box<Structural>>,
    /// Keywords of JSON Schema that the API server knows and refuses, such as `$ref` or `patternProperties`.
    pub refused_keywords: Vec<String>,
    /// Whether `example` or `externalDocs` are there (they have no meaning, but some places admit no keyword).
    pub documented: bool,
}

/// Why a schema cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A keyword has a value of the wrong type; the path leads to it.
    #[error("{path}: expected {expected}")]
    WrongType {
        /// Where it is.
        path: String,
        /// What would be right.
        expected: &'static str,
    },
    /// The schema is nested too deeply.
    #[error("the schema is nested deeper than {MAX_SCHEMA_DEPTH} levels")]
    TooDeep,
}

impl Structural {
    /// Reads a schema.
    ///
    /// # Errors
    /// A keyword of the wrong type, or a schema nested deeper than [`MAX_SCHEMA_DEPTH`].
    pub fn parse(schema: &Value) -> Result<Self, SchemaError> {
        Reader::default().node(schema).map(|node| *node)
    }

    /// The list type as it takes effect: atomic where none is named.
    #[must_use]
    pub fn effective_list_type(&self) -> ListType {
        match self.list_type.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map,
            _ => ListType::Atomic,
        }
    }

    /// The map type as it takes effect: granular where none is named.
    #[must_use]
    pub fn effective_map_type(&self) -> MapType {
        if self.map_type.as_deref() == Some("atomic") { MapType::Atomic } else { MapType::Granular }
    }

    /// Whether unknown fields stay.
    #[must_use]
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }

    /// The schema of the values of a map, if the node is one.
    #[must_use]
    pub fn additional_schema(&self) -> Option<&Structural> {
        match &self.additional_properties {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of one field: its property, or what holds for all other fields.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Structural> {
        self.properties.get(name).or_else(|| self.additional_schema())
    }

    /// All direct children with the JSON path that leads to them, in a fixed order.
    pub fn children(&self) -> impl Iterator<Item = (String, &Structural)> {
        let items = self.items.as_deref().map(|s| ("items".to_owned(), s));
        let properties = self.properties.iter().map(|(k, s)| (format!("properties[{k}]"), s));
        let additional = self.additional_schema().map(|s| ("additionalProperties".to_owned(), s));
        items.into_iter().chain(properties).chain(additional)
    }

    /// Whether the node or one below satisfies a condition, junctors included.
    pub fn any(&self, condition: &impl Fn(&Structural) -> bool) -> bool {
        condition(self)
            || self.children().any(|(_, s)| s.any(condition))
            || self.junctions().any(|(_, s)| s.any(condition))
    }

    /// The schemas below `allOf`, `anyOf`, `oneOf` and `not` with the path that leads to them.
    pub fn junctions(&self) -> impl Iterator<Item = (String, &Structural)> {
        let numbered = |name: &'static str| move |(i, s)| (format!("{name}[{i}]"), s);
        self.all_of
            .iter()
            .enumerate()
            .map(numbered("allOf"))
            .chain(self.any_of.iter().enumerate().map(numbered("anyOf")))
            .chain(self.one_of.iter().enumerate().map(numbered("oneOf")))
            .chain(self.not.as_deref().map(|s| ("not".to_owned(), s)))
    }
}

#[derive(Default)]
struct Reader {
    path: Vec<String>,
    depth: usize,
    /// Those that were met: the same one often stands in many places.
    patterns: HashMap<String, Pattern>,
}

impl Reader {
    fn wrong(&self, key: &str, expected: &'static str) -> SchemaError {
        let mut path = self.path.clone();
        if !key.is_empty() {
            path.push(key.to_owned());
        }
        SchemaError::WrongType { path: path.join("."), expected }
    }

    fn below<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(key.to_owned());
        let result = read(self);
        self.path.pop();
        result
    }

    /// Boxed, so that the frames of this recursion stay small.
    fn node(&mut self, value: &Value) -> Result<Box<Structural>, SchemaError> {
        if self.depth > MAX_SCHEMA_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        self.depth += 1;
        let node = self.keywords(value);
        self.depth -= 1;
        node
    }

    fn keywords(&mut self, value: &Value) -> Result<Box<Structural>, SchemaError> {
        let map = value.as_object().ok_or_else(|| self.wrong("", "an object"))?;
        let mut node = Box::<Structural>::default();
        for (key, value) in map {
            if !value.is_null() {
                self.keyword(&mut node, key, value)?;
            }
        }
        self.drop_unsupported_format(&mut node, map);
        Ok(node)
    }

    fn keyword(&mut self, node: &mut Structural, key: &str, value: &Value) -> Result<(), SchemaError> {
        match key {
            "type" => node.type_ = self.string(key, value)?,
            "format" => node.format = self.string(key, value)?,
            "title" => node.title = self.string(key, value)?,
            "description" => node.description = self.string(key, value)?,
            "nullable" => node.nullable = self.boolean(key, value)?,
            "default" => node.default = Some(value.clone()),
            "enum" => node.enum_values = self.array(key, value)?.clone(),
            "required" => node.required = self.strings(key, value)?,
            "pattern" => {
                let source = self.string(key, value)?;
                if !source.is_empty() {
                    let pattern =
                        self.patterns.entry(source).or_insert_with_key(|source| Pattern::new(source));
                    node.pattern = Some(pattern.clone());
                }
            }
            "uniqueItems" => node.unique_items = self.boolean(key, value)?,
            "example" | "externalDocs" => node.documented = true,
            key if key.starts_with("x-kubernetes-") => self.extension(node, key, value)?,
            _ => return self.bound_or_child(node, key, value),
        }
        Ok(())
    }

    fn extension(&mut self, node: &mut Structural, key: &str, value: &Value) -> Result<(), SchemaError> {
        match key {
            "x-kubernetes-preserve-unknown-fields" => {
                node.preserve_unknown_fields = Some(self.boolean(key, value)?);
            }
            "x-kubernetes-embedded-resource" => node.embedded_resource = self.boolean(key, value)?,
            "x-kubernetes-int-or-string" => node.int_or_string = self.boolean(key, value)?,
            "x-kubernetes-list-type" => node.list_type = Some(self.string(key, value)?),
            "x-kubernetes-map-type" => node.map_type = Some(self.string(key, value)?),
            "x-kubernetes-list-map-keys" => node.list_map_keys = self.strings(key, value)?,
            "x-kubernetes-validations" => {
                for rule in self.array(key, value)? {
                    node.rules.push(self.rule(key, rule)?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rule(&mut self, key: &str, value: &Value) -> Result<Rule, SchemaError> {
        let map = value.as_object().ok_or_else(|| self.wrong(key, "a list of rules"))?;
        let text = |name: &str| match map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(s)) => Ok(Some(s.clone())),
            Some(_) => Err(self.wrong(key, "strings in each rule")),
        };
        Ok(Rule {
            rule: text("rule")?.unwrap_or_default(),
            message: text("message")?.unwrap_or_default(),
            message_expression: text("messageExpression")?.unwrap_or_default(),
            reason: text("reason")?,
            field_path: text("fieldPath")?.unwrap_or_default(),
            optional_old_self: map.get("optionalOldSelf").and_then(Value::as_bool),
        })
    }

    fn bound_or_child(&mut self, node: &mut Structural, key: &str, value: &Value) -> Result<(), SchemaError> {
        match key {
            "maximum" => node.maximum = Some(self.number(key, value)?),
            "exclusiveMaximum" => node.exclusive_maximum = self.boolean(key, value)?,
            "minimum" => node.minimum = Some(self.number(key, value)?),
            "exclusiveMinimum" => node.exclusive_minimum = self.boolean(key, value)?,
            "multipleOf" => node.multiple_of = Some(self.number(key, value)?),
            "maxLength" => node.max_length = Some(self.integer(key, value)?),
            "minLength" => node.min_length = Some(self.integer(key, value)?),
            "maxItems" => node.max_items = Some(self.integer(key, value)?),
            "minItems" => node.min_items = Some(self.integer(key, value)?),
            "maxProperties" => node.max_properties = Some(self.integer(key, value)?),
            "minProperties" => node.min_properties = Some(self.integer(key, value)?),
            "items" if value.is_array() => node.refused_keywords.push("items".to_owned()),
            "items" => node.items = Some(self.below(key, |r| r.node(value))?),
            "properties" => {
                let map = value.as_object().ok_or_else(|| self.wrong(key, "an object"))?;
                for (name, schema) in map {
                    let schema = self.below(key, |r| r.below(name, |r| r.node(schema)))?;
                    node.properties.insert(name.clone(), *schema);
                }
            }
            "additionalProperties" => {
                node.additional_properties = Some(match value {
                    Value::Bool(b) => Additional::Any(*b),
                    schema => Additional::Schema(self.below(key, |r| r.node(schema))?),
                });
            }
            "allOf" => node.all_of = self.nodes(key, value)?,
            "anyOf" => node.any_of = self.nodes(key, value)?,
            "oneOf" => node.one_of = self.nodes(key, value)?,
            "not" => node.not = Some(self.below(key, |r| r.node(value))?),
            "id" | "additionalItems" | "patternProperties" | "definitions" | "dependencies" | "$ref" => {
                node.refused_keywords.push(key.to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn nodes(&mut self, key: &str, value: &Value) -> Result<Vec<Structural>, SchemaError> {
        let values = self.array(key, value)?;
        values.iter().map(|schema| self.below(key, |r| r.node(schema)).map(|node| *node)).collect()
    }

    /// Formats that the server does not know for the type are as good as absent.
    fn drop_unsupported_format(&self, node: &mut Structural, map: &Map<String, Value>) {
        let type_ =
            if node.int_or_string { "" } else { map.get("type").and_then(Value::as_str).unwrap_or("") };
        let known = match type_ {
            _ if node.int_or_string => super::formats::is_known(&node.format),
            "" | "string" => super::formats::is_known(&node.format),
            "integer" => matches!(node.format.as_str(), "int32" | "int64"),
            "number" => matches!(node.format.as_str(), "float" | "double"),
            _ => false,
        };
        if !known {
            node.format.clear();
        }
    }

    fn string(&self, key: &str, value: &Value) -> Result<String, SchemaError> {
        value.as_str().map(str::to_owned).ok_or_else(|| self.wrong(key, "a string"))
    }

    fn boolean(&self, key: &str, value: &Value) -> Result<bool, SchemaError> {
        value.as_bool().ok_or_else(|| self.wrong(key, "a boolean"))
    }

    fn number(&self, key: &str, value: &Value) -> Result<f64, SchemaError> {
        value.as_f64().ok_or_else(|| self.wrong(key, "a number"))
    }

    fn integer(&self, key: &str, value: &Value) -> Result<i64, SchemaError> {
        value.as_i64().ok_or_else(|| self.wrong(key, "an integer"))
    }

    fn array<'v>(&self, key: &str, value: &'v Value) -> Result<&'v Vec<Value>, SchemaError> {
        value.as_array().ok_or_else(|| self.wrong(key, "a list"))
    }

    fn strings(&self, key: &str, value: &Value) -> Result<Vec<String>, SchemaError> {
        self.array(key, value)?.iter().map(|v| self.string(key, v)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keywords_are_read() {
        let schema = Structural::parse(&json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"type": "string", "format": "no-such-format", "pattern": "^x"},
                           "m": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}}},
            "x-kubernetes-validations": [{"rule": "true", "reason": "FieldValueInvalid"}]
        }))
        .unwrap();
        assert_eq!(schema.required, ["a"]);
        assert_eq!(schema.properties["a"].format, "");
        assert_eq!(schema.properties["m"].field("any").unwrap().format, "int32");
        assert_eq!(
            schema.rules[0].to_go_json(),
            r#"{"Rule":"true","Message":"","MessageExpression":"","Reason":"FieldValueInvalid","FieldPath":"","OptionalOldSelf":null}"#
        );
    }

    #[test]
    fn wrong_types_and_deep_schemas_are_errors() {
        let error = Structural::parse(&json!({"properties": {"a": {"type": 5}}})).unwrap_err();
        assert_eq!(error.to_string(), "properties.a.type: expected a string");
        let mut deep = json!({"type": "object"});
        for _ in 0..120 {
            deep = json!({"type": "array", "items": deep});
        }
        assert_eq!(Structural::parse(&deep), Err(SchemaError::TooDeep));
    }
}
