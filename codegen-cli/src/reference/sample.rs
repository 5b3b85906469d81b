//! Makes a sample manifest of a kind: the type's example, or the required fields and those with defaults. An
//! API server's own validation decides whether it is valid.

mod branches;

use std::collections::BTreeSet;

use kubesmith_apiextensions::structural::{Cause, Checker, aggregate, apply_defaults};
use kubesmith_apimachinery::yaml;
use serde_json::{Map, Value, json};

use self::branches::absorb;
use super::{Sample, strings, text};
use crate::ir::{Resource, Scope};
use crate::schema::{Additional, Number, Schema};

/// The most alternatives that are tried.
const BRANCHES: usize = 4;

/// The most optional fields that are tried one by one when rules need more than the required ones.
const EXTRAS: usize = 100;

/// The most other values that are tried when rules refuse the first ones.
const SHIFTS: usize = 4;

/// The most changes in a sample.
const ROUNDS: usize = 4;

/// The most items in a list.
const ITEMS: i64 = 20;

/// The most items in all nested lists and maps.
const ROOM: i64 = 400;

/// The depth to which optional fields are filled in.
const DEPTH: usize = 5;

/// Makes a manifest of the resource with this schema; `None` if the schema cannot be read.
///
/// Begins with the smallest object and repeats the change that leaves the fewest faults, until none remains
/// or no change helps.
pub(crate) fn sample(group: &str, version: &str, resource: &Resource, schema: &Schema) -> Option<Sample> {
    let checker = Checker::new(&schema.to_value()).ok()?;
    let made = |object: Value| {
        let object = whole(group, version, resource, object);
        let causes = faults(&checker, &object);
        (object, causes)
    };
    let given = schema.example.clone().map(made).filter(|(_, causes)| causes.is_empty());
    let mut maker = Maker::default();
    let mut best = given.unwrap_or_else(|| made(maker.root(schema)));
    for _ in 0..ROUNDS {
        if best.1.is_empty() {
            break;
        }
        let mut better = None;
        for changed in changes(&maker, schema) {
            let tried = made(changed.root(schema));
            if tried.1.len() < best.1.len() {
                best = tried;
                better = Some(changed);
            }
            if best.1.is_empty() {
                break;
            }
        }
        match better {
            Some(changed) => maker = changed,
            None => break,
        }
    }
    let (object, causes) = best;
    Some(Sample { yaml: yaml::to_visible_yaml(&object), problem: aggregate(&causes) })
}

/// The causes for which an API server would refuse a new object.
fn faults(checker: &Checker, object: &Value) -> Vec<Cause> {
    let mut object = object.clone();
    apply_defaults(checker.schema(), &mut object);
    checker.create(&object)
}

/// The possible changes, the smallest first, and those with deprecated fields last.
fn changes<'a>(maker: &'a Maker, schema: &Schema) -> impl Iterator<Item = Maker> + 'a {
    let mut names = BTreeSet::new();
    optional_names(schema, &mut names);
    let branches = (1..BRANCHES).map(move |branch| Maker { branch, ..maker.clone() });
    let shifts = (1..SHIFTS).map(move |shift| Maker { shift, ..maker.clone() });
    let names = names.into_iter().map(|(_, name)| name);
    let extras = names.filter(|name| !maker.extras.contains(name)).take(EXTRAS).map(|name| {
        let mut changed = maker.clone();
        changed.extras.insert(name);
        changed
    });
    let all = (0..BRANCHES).map(move |branch| Maker { all: true, branch, ..maker.clone() });
    branches.chain(shifts).chain(extras).chain(all)
}

/// Adds the members of every object.
fn whole(group: &str, version: &str, resource: &Resource, object: Value) -> Value {
    let mut out = match object {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let api_version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    out.insert("apiVersion".into(), api_version.into());
    out.insert("kind".into(), resource.kind.clone().into());
    let given = out.get("metadata").is_some_and(|metadata| metadata.get("name").is_some());
    if !given {
        let name = format!("{}-sample", resource.singular);
        let metadata = match resource.scope {
            Scope::Namespaced => json!({"name": name, "namespace": "default"}),
            Scope::Cluster => json!({ "name": name }),
        };
        out.insert("metadata".into(), metadata);
    }
    Value::Object(out)
}

/// The names of optional fields, each after whether it is deprecated.
fn optional_names(schema: &Schema, out: &mut BTreeSet<(bool, String)>) {
    for (name, property) in &schema.properties {
        if !schema.required.contains(name) {
            out.insert((is_deprecated(property), name.clone()));
        }
        optional_names(property, out);
    }
    if let Some(items) = &schema.items {
        optional_names(items, out);
    }
}

fn is_deprecated(schema: &Schema) -> bool {
    text::is_deprecated(schema.description.as_ref())
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

/// Makes values.
#[derive(Clone, Debug, Default)]
struct Maker {
    /// The index of the chosen alternative.
    branch: usize,
    /// Whether all optional fields are included.
    all: bool,
    /// The names of included optional fields.
    extras: BTreeSet<String>,
    /// The number of skipped values.
    shift: usize,
}

impl Maker {
    fn root(&self, schema: &Schema) -> Value {
        let mut schema = schema.clone();
        for name in ["apiVersion", "kind", "metadata", "status"] {
            schema.properties.remove(name);
        }
        schema.example = None;
        // A manifest without a spec would be useless.
        if schema.properties.contains_key("spec") {
            schema.required.insert("spec");
        }
        self.value(&schema, 0, At { depth: 0, room: ROOM })
    }

    /// A value for the schema; values with different salts differ if possible.
    fn value(&self, schema: &Schema, salt: usize, at: At) -> Value {
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
            Some("string") => strings::text(schema, salt).into(),
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
                let asks_for_deprecated =
                    |it: &Schema| it.required.iter().filter_map(property).any(|it| is_deprecated(it));
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
        (0..usize::try_from(length).unwrap_or(0)).map(|salt| self.value(items, salt, inside)).collect()
    }

    fn object(&self, schema: &Schema, salt: usize, at: At) -> Value {
        let mut out = Map::new();
        if schema.embedded_resource {
            out.insert("apiVersion".into(), "v1".into());
            out.insert("kind".into(), "ConfigMap".into());
            out.insert("metadata".into(), json!({"name": "example"}));
        }
        let wanted = |name: &String, property: &Schema| {
            let any = self.all && at.depth < DEPTH && !is_deprecated(property);
            let chosen = self.extras.contains(name) || any;
            schema.required.contains(name)
                || property.default.is_some()
                || property.example.is_some()
                || chosen
        };
        for (name, property) in schema.properties.iter().filter(|(name, property)| wanted(name, property)) {
            out.insert(name.clone(), self.value(property, salt, at.below()));
        }
        for name in &schema.required {
            out.entry(name.clone()).or_insert_with(|| self.additional(schema, salt, at));
        }
        let least = schema.min_properties.unwrap_or(0).min(at.most());
        let inside = at.among(least);
        let least = usize::try_from(least).unwrap_or(0);
        let (last, first): (Vec<_>, Vec<_>) =
            schema.properties.iter().partition(|(_, property)| is_deprecated(property));
        for (name, property) in first.into_iter().chain(last) {
            if out.len() < least {
                out.entry(name.clone()).or_insert_with(|| self.value(property, salt, at.below()));
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
            Some(Additional::Schema(values)) => self.value(values, salt, at.below()),
            _ => json!({}),
        }
    }
}

/// A text if the pattern accepts only texts, such as a quantity; a number if it accepts numbers.
fn text_or_number(schema: &Schema, salt: usize) -> Value {
    let number = (salt + 1).to_string();
    match schema.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&number) == Ok(true)) {
        true => number.into(),
        false => strings::text(schema, salt).into(),
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
        Maker::default().value(&schema, 0, At { depth: 0, room: ROOM })
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

        let schema: Schema =
            serde_json::from_value(json!({"type": "object", "properties": properties})).unwrap();
        let maker = Maker::default();
        let tried: Vec<Value> =
            changes(&maker, &schema).filter(|it| !it.extras.is_empty()).map(|it| it.root(&schema)).collect();
        assert_eq!(tried, [only_b, json!({"a": "example"})]);
    }
}
