//! Values that a schema accepts: samples for documentation, and candidates for tests. They respect types, bounds,
//! lengths, formats, patterns, required fields and one alternative of each kind; rules are up to the caller, who asks a
//! validator.

mod branches;
mod strings;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::branches::absorb;
pub use self::strings::text;
use crate::schema::{Additional, Number, Schema};

/// The most items in a list.
const ITEMS: i64 = 20;

/// The most items in all nested lists and maps.
const ROOM: i64 = 400;

/// The depth to which optional fields are filled in.
const DEPTH: usize = 5;

/// Reports whether a paragraph of a description begins with `Deprecated`, Go's convention.
#[must_use]
pub fn is_deprecated(description: Option<&String>) -> bool {
    let marked = |line: &str| {
        let word = line.trim_start().get(..10).unwrap_or_default();
        let rest = line.trim_start().get(10..).unwrap_or_default();
        word.eq_ignore_ascii_case("deprecated") && !rest.starts_with(char::is_alphanumeric)
    };
    description.is_some_and(|text| {
        let mut before = "";
        text.lines().any(|line| {
            marked(line) && std::mem::replace(&mut before, line).trim().is_empty() || {
                before = line;
                false
            }
        })
    })
}

/// The position of a value being made.
#[derive(Clone, Copy, Debug)]
struct At {
    /// The nesting of the value.
    depth: usize,
    /// The number of items that it may still contain.
    room: i64,
}

impl At {
    /// The most items of a list here.
    fn most(self) -> i64 {
        self.room.min(ITEMS)
    }

    /// The position of a field.
    fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// The position of one of this many items.
    fn among(self, items: i64) -> Self {
        Self { depth: self.depth + 1, room: self.room / items.max(1) }
    }
}

/// Makes values with the required fields and those with defaults.
#[derive(Clone, Debug, Default)]
pub struct Maker {
    /// The index of the chosen alternative.
    pub branch: usize,
    /// Whether all optional fields are included.
    pub all: bool,
    /// The names of included optional fields.
    pub extras: BTreeSet<String>,
    /// The number of skipped values.
    pub shift: usize,
}

impl Maker {
    /// Returns a value for the schema; values with different salts differ if possible.
    #[must_use]
    pub fn value(&self, schema: &Schema, salt: usize) -> Value {
        self.value_at(schema, salt, At { depth: 0, room: ROOM })
    }

    fn value_at(&self, schema: &Schema, salt: usize, at: At) -> Value {
        if salt == 0
            && let Some(value) = schema.example.as_ref().or(schema.default.as_ref())
        {
            return value.clone();
        }
        let schema = &self.effective(schema);
        let salt = salt + self.shift;
        if let Some(values) = schema.enum_.as_ref().filter(|values| !values.is_empty()) {
            return values[salt % values.len()].clone();
        }
        let is_unit = schema.nullable && schema.not.as_deref() == Some(&Schema::default());
        match schema.type_.as_deref() {
            _ if is_unit => Value::Null,
            _ if schema.int_or_string && schema.pattern.is_some() => text_or_number(schema, salt),
            _ if schema.int_or_string => integer(schema, salt),
            Some("string") => text(schema, salt).into(),
            Some("integer") => integer(schema, salt),
            Some("number") => integer(schema, salt),
            Some("boolean") => (salt % 2 == 1).into(),
            Some("array") => self.array(schema, at),
            _ => self.object(schema, salt - self.shift, at),
        }
    }

    /// The schema with the restrictions of its branches.
    fn effective(&self, schema: &Schema) -> Schema {
        let mut out = schema.clone();
        let mut branches: Vec<Schema> = std::mem::take(&mut out.all_of);
        for mut alternatives in [std::mem::take(&mut out.any_of), std::mem::take(&mut out.one_of)] {
            if !alternatives.is_empty() && !schema.int_or_string {
                let property = |name: &String| schema.properties.get(name);
                let asks_for_deprecated = |it: &Schema| {
                    it.required.iter().filter_map(property).any(|it| is_deprecated(it.description.as_ref()))
                };
                alternatives.sort_by_cached_key(asks_for_deprecated);
                branches.push(alternatives.swap_remove(self.branch % alternatives.len()));
            }
        }
        for branch in branches {
            absorb(&mut out, self.effective(&branch));
        }
        out
    }

    fn array(&self, schema: &Schema, at: At) -> Value {
        let length =
            schema.min_items.unwrap_or(0).max(1).min(schema.max_items.unwrap_or(i64::MAX)).min(at.most());
        let empty = Schema::default();
        let items = schema.items.as_deref().unwrap_or(&empty);
        let inside = at.among(length);
        (0..usize::try_from(length).unwrap_or(0)).map(|salt| self.value_at(items, salt, inside)).collect()
    }

    fn object(&self, schema: &Schema, salt: usize, at: At) -> Value {
        let mut out = Map::new();
        if schema.embedded_resource {
            out.insert("apiVersion".into(), "v1".into());
            out.insert("kind".into(), "ConfigMap".into());
            out.insert("metadata".into(), json!({"name": "example"}));
        }
        let wanted = |name: &String, property: &Schema| {
            let any = self.all && at.depth < DEPTH && !is_deprecated(property.description.as_ref());
            let chosen = self.extras.contains(name) || any;
            schema.required.contains(name)
                || property.default.is_some()
                || property.example.is_some()
                || chosen
        };
        for (name, property) in schema.properties.iter().filter(|(name, property)| wanted(name, property)) {
            out.insert(name.clone(), self.value_at(property, salt, at.below()));
        }
        for name in &schema.required {
            out.entry(name.clone()).or_insert_with(|| self.additional(schema, salt, at));
        }
        let least = schema.min_properties.unwrap_or(0).min(at.most());
        let inside = at.among(least);
        let least = usize::try_from(least).unwrap_or(0);
        let (last, first): (Vec<_>, Vec<_>) =
            schema.properties.iter().partition(|(_, property)| is_deprecated(property.description.as_ref()));
        for (name, property) in first.into_iter().chain(last) {
            if out.len() < least {
                out.entry(name.clone()).or_insert_with(|| self.value_at(property, salt, at.below()));
            }
        }
        let mut number = 0;
        while out.len() < least && schema.properties.is_empty() {
            number += 1;
            out.insert(format!("key-{number}"), self.additional(schema, number - 1, inside));
        }
        Value::Object(out)
    }

    fn additional(&self, schema: &Schema, salt: usize, at: At) -> Value {
        match &schema.additional_properties {
            Some(Additional::Schema(values)) => self.value_at(values, salt, at.below()),
            _ => json!({}),
        }
    }
}

/// A text if the pattern accepts only texts, such as a quantity; a number if it accepts numbers.
fn text_or_number(schema: &Schema, salt: usize) -> Value {
    let number = (salt + 1).to_string();
    match schema.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&number) == Ok(true)) {
        true => number.into(),
        false => text(schema, salt).into(),
    }
}

/// The `salt`th number from the minimum up, or from the maximum down.
fn integer(schema: &Schema, salt: usize) -> Value {
    let bound = |bound: &Option<Number>| bound.as_ref().map(Number::float);
    let step = bound(&schema.multiple_of).filter(|step| *step > 0.0).unwrap_or(1.0);
    let exclusive = |given: bool| if given { step } else { 0.0 };
    let least = bound(&schema.minimum).map(|least| (least / step).ceil() * step);
    let least = least.map(|least| {
        let is_bound = schema.exclusive_minimum && bound(&schema.minimum) == Some(least);
        least + exclusive(is_bound)
    });
    let most = bound(&schema.maximum).map(|most| (most / step).floor() * step);
    let most = most.map(|most| {
        let is_bound = schema.exclusive_maximum && bound(&schema.maximum) == Some(most);
        most - exclusive(is_bound)
    });
    let value = match (least, most) {
        (Some(least), _) => least + salt as f64 * step,
        (None, Some(most)) if most < step => most - salt as f64 * step,
        _ => (salt + 1) as f64 * step,
    };
    // Integers in this range have a JSON form of their own.
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: Value) -> Value {
        let schema: Schema = serde_json::from_value(schema).unwrap();
        Maker::default().value(&schema, 0)
    }

    #[test]
    fn sample_numbers_satisfy_their_bounds() {
        for (schema, value) in [
            (json!({"type": "integer"}), json!(1)),
            (json!({"type": "integer", "minimum": 5, "exclusiveMinimum": true}), json!(6)),
            (json!({"type": "integer", "minimum": 5, "multipleOf": 4}), json!(8)),
            (json!({"type": "integer", "maximum": -3}), json!(-3)),
            (json!({"type": "integer", "maximum": 0, "exclusiveMaximum": true}), json!(-1)),
            (json!({"type": "number", "multipleOf": 0.5}), json!(0.5)),
        ] {
            assert_eq!(made(schema.clone()), value, "{schema}");
        }
    }

    #[test]
    fn sample_satisfies_branches() {
        for (schema, value) in [
            (json!({"minimum": 2, "allOf": [{"minimum": 5}]}), json!(5)),
            (json!({"minimum": 5, "allOf": [{"minimum": 2, "exclusiveMinimum": true}]}), json!(5)),
            (json!({"minimum": 5, "allOf": [{"minimum": 5, "exclusiveMinimum": true}]}), json!(6)),
            (json!({"maximum": -3, "allOf": [{"maximum": -7, "exclusiveMaximum": true}]}), json!(-8)),
            (json!({"multipleOf": 4, "allOf": [{"multipleOf": 6}]}), json!(12)),
            (json!({"multipleOf": 4, "minimum": 13, "allOf": [{"minimum": 2}]}), json!(16)),
        ] {
            let mut whole = schema.clone();
            whole["type"] = json!("integer");
            assert_eq!(made(whole), value, "{schema}");
        }
        let text = json!({"type": "string", "minLength": 2, "maxLength": 40, "allOf": [{"minLength": 12}, {"maxLength": 13}]});
        let text = made(text);
        assert!((12..=13).contains(&text.as_str().unwrap().len()), "{text}");
        let list =
            json!({"type": "array", "minItems": 1, "items": {"type": "boolean"}, "allOf": [{"minItems": 3}]});
        assert_eq!(made(list).as_array().unwrap().len(), 3);
        let map = json!({"type": "object", "minProperties": 1, "additionalProperties": {"type": "boolean"},
            "anyOf": [{"minProperties": 2}]});
        assert_eq!(made(map).as_object().unwrap().len(), 2);
    }

    #[test]
    fn sample_of_nested_lists_is_bounded_in_size() {
        let mut schema = json!({"type": "string"});
        for level in 0..12 {
            schema = match level % 2 {
                0 => json!({"type": "array", "minItems": 20, "items": schema}),
                _ => json!({"type": "object", "minProperties": 20, "additionalProperties": schema}),
            };
        }
        assert!(made(schema).to_string().len() < 50_000);
    }

    #[test]
    fn sample_lists_have_distinct_items_and_objects_required_fields() {
        let list = json!({"type": "array", "minItems": 2, "items": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string", "pattern": "^[a-z]$"}, "left": {"type": "string"},
                "size": {"type": "integer", "default": 7}}}});
        assert_eq!(made(list), json!([{"name": "a", "size": 7}, {"name": "b", "size": 2}]));
        let map = json!({"type": "object", "minProperties": 1, "additionalProperties": {"type": "boolean"}});
        assert_eq!(made(map), json!({"key-1": false}));
        let choice = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        assert_eq!(made(choice), json!({"a": "example"}));
    }

    #[test]
    fn sample_uses_deprecated_fields_last() {
        let properties = json!({"a": {"type": "string", "description": "Old.\n\nDeprecated: use b."},
            "b": {"type": "string"}});
        let with = |name: &str, value: Value| {
            let mut schema = json!({"type": "object", "properties": properties});
            schema[name] = value;
            made(schema)
        };
        let only_b = json!({"b": "example"});
        assert_eq!(with("oneOf", json!([{"required": ["a"]}, {"required": ["b"]}])), only_b);
        assert_eq!(with("minProperties", json!(1)), only_b);
        let asked_for = with("required", json!(["a"]));
        assert_eq!(asked_for, json!({"a": "example"}));
    }

    #[test]
    fn deprecation_notice_must_begin_a_paragraph() {
        let is = |text: &str| is_deprecated(Some(&text.to_string()));
        assert!(is("Deprecated: use b"));
        assert!(is("A.\n\nDEPRECATED, use b"));
        assert!(!is("A.\nDeprecated things."));
        assert!(!is("Deprecatedly"));
        assert!(!is("This is deprecated"));
    }
}
