//! Variants of an object from the schema of its definition.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The depth to which variants change an object.
pub(super) const DEPTH: usize = 6;

/// Whether a server takes forms of an object, one after the other.
pub(super) type Accepts<'a> = &'a dyn Fn(&[&Value]) -> bool;

/// The schema of a kind in a version.
pub(super) fn schema<'a>(definitions: &'a [Value], api_version: &str, kind: &str) -> Option<&'a Value> {
    let (group, version) = api_version.split_once('/')?;
    let spec = definitions.iter().map(|definition| &definition["spec"]);
    let mut fitting = spec.filter(|spec| spec["group"] == group && spec["names"]["kind"] == kind);
    let versions = fitting.next()?["versions"].as_array()?;
    let found = versions.iter().find(|found| found["name"] == version)?;
    Some(&found["schema"]["openAPIV3Schema"])
}

/// Returns two variants of an object: one in which as many fields as possible have another value, and one without
/// optional fields. `accepts` calls the server; refused changes are skipped. So are variants equal to the object.
pub(super) fn variants(object: &Value, schema: &Value, accepts: Accepts<'_>) -> Vec<Value> {
    let spec = &schema["properties"]["spec"];
    let tries: [Changes; 2] = [other_values, without_optional];
    let each = tries.map(|changes| {
        let mut variant = object.clone();
        for change in changes(&object["spec"], spec, 0) {
            let next = with(&variant, &[&change]);
            // A rule about transitions may hold in one direction only.
            if accepts(&[object, &next, object]) {
                variant = next;
            }
        }
        variant
    });
    each.into_iter().filter(|variant| variant != object).collect()
}

/// The key that maps gain.
const ENTRY: &str = "other";

/// The limit of tried changes of single fields.
const MOST_FIELDS: usize = 40;

/// A field below `spec`, and its new value; `None` removes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    path: Vec<String>,
    value: Option<Value>,
}

impl Change {
    /// A change of a field of the spec itself.
    pub(super) fn of(name: &str, value: Option<Value>) -> Self {
        Self { path: vec![name.to_owned()], value }
    }

    /// The field and its new value.
    pub(super) fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{} = {value}", self.name()),
            None => format!("{} unset", self.name()),
        }
    }

    pub(super) fn unsets(&self) -> bool {
        self.value.is_none()
    }

    /// Returns the field's name, such as `spec.size`.
    pub(super) fn name(&self) -> String {
        format!("spec.{}", self.path.join("."))
    }
}

/// Returns changes of single fields that the server accepts: another value for each, and none where it is optional.
pub(super) fn fields(object: &Value, schema: &Value, accepts: Accepts<'_>) -> Vec<Change> {
    let spec = &schema["properties"]["spec"];
    let tries =
        [other_values, without_each].into_iter().flat_map(|changes| changes(&object["spec"], spec, 0));
    let accepted = tries.filter(|change| {
        let variant = with(object, &[change]);
        variant != *object && accepts(&[object, &variant, object])
    });
    accepted.take(MOST_FIELDS).collect()
}

/// Returns an object with changes.
pub(super) fn with(object: &Value, changes: &[&Change]) -> Value {
    let mut variant = object.clone();
    for Change { path, value } in changes {
        change(&mut variant["spec"], path, value.clone());
    }
    variant
}

/// Finds changes of a value that has a schema, at a depth.
type Changes = fn(&Value, &Value, usize) -> Vec<Change>;

fn change(value: &mut Value, path: &[String], new: Option<Value>) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = value;
    for name in parents {
        at = &mut at[name.as_str()];
    }
    match (at.as_object_mut(), new) {
        (Some(map), Some(new)) => drop(map.insert(last.clone(), new)),
        (Some(map), None) => drop(map.remove(last)),
        (None, _) => {}
    }
}

pub(super) fn below(name: &str, changes: Vec<Change>) -> impl Iterator<Item = Change> {
    let prefix = name.to_owned();
    changes.into_iter().map(move |mut change| {
        change.path.insert(0, prefix.clone());
        change
    })
}

pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}

/// Returns another value for each field of the schema, set or not.
fn other_values(value: &Value, schema: &Value, depth: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, field) in properties(schema).filter(|_| depth < DEPTH) {
        let now = &value[name.as_str()];
        if field["properties"].is_object() && now.is_object() {
            changes.extend(below(name, other_values(now, field, depth + 1)));
        } else if let Some(other) = other_value(now, field) {
            changes.push(Change::of(name, Some(other)));
        }
    }
    changes
}

fn other_value(now: &Value, schema: &Value) -> Option<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().find(|value| *value != now).cloned();
    }
    match schema["type"].as_str()? {
        "boolean" => Some(json!(!now.as_bool().unwrap_or_default())),
        "integer" => {
            let now = now.as_i64().unwrap_or_else(|| schema["minimum"].as_i64().unwrap_or_default());
            let is_most = schema["maximum"].as_i64().is_some_and(|most| now >= most);
            Some(json!(if is_most { now.saturating_sub(1) } else { now.saturating_add(1) }))
        }
        "array" => {
            let mut items = now.as_array()?.clone();
            // One item less is valid more often than one more; a single item is repeated.
            if items.len() > 1 {
                drop(items.pop());
            } else {
                items.push(items.first()?.clone());
            }
            Some(Value::Array(items))
        }
        "string" => {
            let now = now.as_str()?;
            Some(json!(format!("{now}2")))
        }
        "object" => {
            let value = &schema["additionalProperties"];
            let mut map = now.as_object().cloned().unwrap_or_default();
            let known = map.values().next().cloned();
            let new = known.or_else(|| (value["type"] == "string").then(|| json!(ENTRY)))?;
            value.is_object().then(|| map.insert(ENTRY.to_owned(), new)).map(|_| Value::Object(map))
        }
        _ => None,
    }
}

/// Removes each field that is set and optional, with all below it.
fn without_optional(value: &Value, schema: &Value, depth: usize) -> Vec<Change> {
    without(value, schema, depth, false)
}

/// As [`without_optional`], and also each optional field below another one.
fn without_each(value: &Value, schema: &Value, depth: usize) -> Vec<Change> {
    without(value, schema, depth, true)
}

fn without(value: &Value, schema: &Value, depth: usize, each: bool) -> Vec<Change> {
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut changes = Vec::new();
    for (name, field) in properties(schema).filter(|_| depth < DEPTH) {
        let now = &value[name.as_str()];
        if now.is_null() {
            continue;
        }
        let is_optional = !required.contains(name.as_str());
        if is_optional {
            changes.push(Change::of(name, None));
        }
        if now.is_object() && (each || !is_optional) {
            changes.extend(below(name, without(now, field, depth + 1, each)));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_change_what_the_server_accepts() {
        let schema = json!({"properties": {"spec": {
            "required": ["size", "mode"],
            "properties": {
                "size": {"type": "integer", "maximum": 3},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "note": {"type": "string"},
                "fixed": {"type": "boolean"},
                "in": {"type": "object", "properties": {"on": {"type": "boolean"}}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "ports": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        }}});
        let object = json!({"spec": {
            "size": 3, "mode": "a", "note": "n", "fixed": true, "in": {"on": false}, "ports": {"web": 80},
        }});
        let variants =
            variants(&object, &schema, &|forms| forms.iter().all(|form| form["spec"]["fixed"] == true));
        let specs: Vec<&Value> = variants.iter().map(|variant| &variant["spec"]).collect();
        assert_eq!(
            specs[0],
            &json!({
                "size": 2, "mode": "b", "note": "n2", "fixed": true, "in": {"on": true},
                "labels": {"other": "other"}, "ports": {"web": 80, "other": 80},
            })
        );
        assert_eq!(specs[1], &json!({"size": 3, "mode": "a", "fixed": true}));
    }

    #[test]
    fn fields_are_changed_one_by_one() {
        let schema = json!({"properties": {"spec": {"required": ["size"], "properties": {
            "size": {"type": "integer"}, "in": {"type": "object", "properties": {"on": {"type": "boolean"}}},
        }}}});
        let object = json!({"spec": {"size": 3, "in": {"on": false}}});
        let changed: Vec<(String, Value)> = fields(&object, &schema, &|_| true)
            .iter()
            .map(|change| (change.name(), with(&object, &[change])["spec"].clone()))
            .collect();
        assert_eq!(
            changed,
            [
                ("spec.in.on".to_owned(), json!({"size": 3, "in": {"on": true}})),
                ("spec.size".to_owned(), json!({"size": 4, "in": {"on": false}})),
                ("spec.in".to_owned(), json!({"size": 3})),
                ("spec.in.on".to_owned(), json!({"size": 3, "in": {}})),
            ]
        );
    }
}
