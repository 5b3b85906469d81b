//! Variants of an object from the schema of its definition.

mod values;

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apiextensions::cel::{EACH, compared};
use serde_json::{Map, Value};

pub(super) use self::values::Origin;
use self::values::{Group, groups, others, unset};

/// The depth to which variants change an object.
pub(super) const DEPTH: usize = 6;

/// The limits of changes of single fields, and of those that are tried on the server.
const MOST_CHANGES: usize = 400;
const MOST_TRIES: usize = 2_000;
/// The longest value in a text, in characters.
const LONGEST_VALUE: usize = 60;

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
    // A rule about transitions may hold in one direction only.
    let takes = |variant: &Value| accepts(&[object, variant, object]);
    let fields = found(object, schema);
    let mut other = object.clone();
    for field in fields.iter().filter(|field| !field.is_in_list()) {
        let now = at(&object["spec"], &field.path).unwrap_or(&Value::Null);
        let values = if now.is_null() { simple(field.schema) } else { others(now, field.schema) };
        let mut next =
            values.into_iter().map(|value| with(&other, &[&field.change(Some(value), Origin::Other)]));
        if let Some(next) = next.find(takes) {
            other = next;
        }
    }
    let mut without = object.clone();
    for field in fields.iter().filter(|field| field.is_optional && !field.is_in_list()) {
        // What is below a field that is unset goes with it.
        let next = with(&without, &[&field.change(None, Origin::Unset)]);
        if !field.is_below_optional && next != without && takes(&next) {
            without = next;
        }
    }
    [other, without].into_iter().filter(|variant| variant != object).collect()
}

/// Values for a field that is not set, if any of its type make sense.
fn simple(schema: &Value) -> Vec<Value> {
    let is_map_of_texts = schema["additionalProperties"]["type"] == "string";
    let is_simple = matches!(schema["type"].as_str(), Some("boolean" | "integer"));
    match is_simple || schema["enum"].is_array() || is_map_of_texts {
        true => unset(schema).into_iter().flatten().filter(|value| *value != schema["default"]).collect(),
        false => Vec::new(),
    }
}

/// A part of a path below `spec`.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Field(String),
    Item(usize),
}

/// A field below `spec`, and its new value; `None` removes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    path: Vec<Part>,
    value: Option<Value>,
    pub(super) origin: Origin,
    /// Whether it sets a flag, or a word of an enum.
    pub(super) is_mode: bool,
}

impl Change {
    /// A change of a field of the spec itself.
    pub(super) fn of(name: &str, value: Option<Value>) -> Self {
        Self { path: vec![Part::Field(name.to_owned())], value, origin: Origin::Other, is_mode: false }
    }

    /// The field and its new value.
    pub(super) fn text(&self) -> String {
        let Some(value) = &self.value else { return format!("{} unset", self.name()) };
        let value = value.to_string();
        match value.char_indices().nth(LONGEST_VALUE) {
            Some((end, _)) => format!("{} = {}... ({} bytes)", self.name(), &value[..end], value.len()),
            None => format!("{} = {value}", self.name()),
        }
    }

    /// Returns the field's name, such as `spec.size`.
    pub(super) fn name(&self) -> String {
        name(&self.path)
    }
}

fn name(path: &[Part]) -> String {
    path.iter().fold("spec".to_owned(), |name, part| match part {
        Part::Field(field) => format!("{name}.{field}"),
        Part::Item(number) => format!("{name}[{number}]"),
    })
}

fn at<'a>(value: &'a Value, path: &[Part]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, part| match part {
        Part::Field(field) => value.get(field),
        Part::Item(number) => value.get(*number),
    })
}

/// Returns an object with changes. A change below what another one removes has no effect.
pub(super) fn with(object: &Value, changes: &[&Change]) -> Value {
    let mut variant = object.clone();
    for Change { path, value, .. } in changes {
        let Some((Part::Field(last), parents)) = path.split_last() else { continue };
        let parent = parents.iter().try_fold(&mut variant["spec"], |value, part| match part {
            Part::Field(field) => value.get_mut(field),
            Part::Item(number) => value.get_mut(*number),
        });
        match (parent.and_then(Value::as_object_mut), value) {
            (Some(map), Some(new)) => drop(map.insert(last.clone(), new.clone())),
            (Some(map), None) => drop(map.remove(last)),
            (None, _) => {}
        }
    }
    variant
}

pub(super) fn below(name: &str, changes: Vec<Change>) -> impl Iterator<Item = Change> {
    let prefix = name.to_owned();
    changes.into_iter().map(move |mut change| {
        change.path.insert(0, Part::Field(prefix.clone()));
        change
    })
}

pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flat_map(Map::iter)
}

/// A field of an object.
struct Field<'a> {
    path: Vec<Part>,
    schema: &'a Value,
    is_optional: bool,
    is_below_optional: bool,
}

impl Field<'_> {
    fn change(&self, value: Option<Value>, origin: Origin) -> Change {
        let has_modes = self.schema["type"] == "boolean" || self.schema["enum"].is_array();
        Change { path: self.path.clone(), is_mode: has_modes && value.is_some(), value, origin }
    }

    fn is_in_list(&self) -> bool {
        self.path.iter().any(|part| matches!(part, Part::Item(_)))
    }

    /// The path in rules, from the object on.
    fn path_in_rules(&self) -> Vec<String> {
        let parts = self.path.iter().map(|part| match part {
            Part::Field(field) => field.clone(),
            Part::Item(_) => EACH.to_owned(),
        });
        std::iter::once("spec".to_owned()).chain(parts).collect()
    }
}

/// Returns the fields of an object's spec, set or not: those of its schema, below objects that are set, and in the first
/// item of each list.
fn found<'a>(object: &Value, schema: &'a Value) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    find(&object["spec"], &schema["properties"]["spec"], (&[], false), &mut fields);
    fields
}

/// `above` is the path, and whether a part of it is optional.
fn find<'a>(value: &Value, schema: &'a Value, above: (&[Part], bool), fields: &mut Vec<Field<'a>>) {
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, schema) in properties(schema).filter(|_| above.0.len() < DEPTH) {
        let now = &value[name.as_str()];
        let mut path = [above.0, &[Part::Field(name.clone())]].concat();
        let is_optional = !required.contains(name.as_str());
        fields.push(Field { path: path.clone(), schema, is_optional, is_below_optional: above.1 });
        let is_below = above.1 || is_optional;
        if now.is_object() {
            find(now, schema, (&path, is_below), fields);
        }
        if let Some(first) = now.as_array().and_then(|items| items.first()) {
            path.push(Part::Item(0));
            find(first, &schema["items"], (&path, is_below), fields);
        }
    }
}

/// Changes of single fields that the server accepts.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) changes: Vec<Change>,
    /// The fields without a change.
    pub(super) untried: BTreeSet<String>,
    /// The fields that the object leaves unset, for which one value may mean the same as none.
    pub(super) unset: BTreeSet<String>,
}

/// Returns changes of single fields that the server accepts: other values, none where it is optional, and values that only
/// the schema and its rules name. Every field comes before the second change of a field.
pub(super) fn fields(object: &Value, schema: &Value, accepts: Accepts<'_>) -> Fields {
    let rules = rules(schema);
    let fields = found(object, schema);
    let groups: Vec<Vec<Group>> = fields
        .iter()
        .map(|field| {
            let now = at(&object["spec"], &field.path).unwrap_or(&Value::Null);
            let path = field.path_in_rules();
            let items = rules.get(&[path.as_slice(), &[EACH.to_owned()]].concat()).into_iter().flatten();
            let own = rules.get(&path).into_iter().flatten().cloned();
            let compared: Vec<Value> =
                own.chain(items.map(|item| Value::from_iter([item.clone()]))).collect();
            groups(now, field.schema, field.is_optional, &compared)
        })
        .collect();
    let mut changes: Vec<Change> = Vec::new();
    let mut tries = 0;
    let rounds = groups.iter().map(Vec::len).max().unwrap_or_default();
    for round in 0..rounds {
        for (field, groups) in fields.iter().zip(&groups) {
            let Some((origin, values)) = groups.get(round) else { continue };
            let accepted = values.iter().map(|value| field.change(value.clone(), *origin)).find(|change| {
                let variant = with(object, &[change]);
                let is_new = variant != *object && !changes.contains(change);
                if !is_new || tries == MOST_TRIES || changes.len() == MOST_CHANGES {
                    return false;
                }
                tries += 1;
                accepts(&[object, &variant, object])
            });
            changes.extend(accepted);
        }
    }
    let tried: BTreeSet<String> = changes.iter().map(Change::name).collect();
    // An object is tried with what is below it.
    let is_tried = |field: &String| {
        tried.iter().any(|tried| {
            tried.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    };
    let is_unset = |field: &&Field<'_>| at(&object["spec"], &field.path).is_none();
    let unset = fields.iter().filter(is_unset).map(|field| name(&field.path)).collect();
    let names = fields.iter().map(|field| name(&field.path));
    Fields { untried: names.filter(|field| !is_tried(field)).collect(), changes, unset }
}

/// Returns the values that the rules of a schema compare fields with, by path.
fn rules(schema: &Value) -> BTreeMap<Vec<String>, Vec<Value>> {
    let mut found = BTreeMap::new();
    add_rules(schema, &mut Vec::new(), &mut found);
    found
}

fn add_rules(schema: &Value, path: &mut Vec<String>, found: &mut BTreeMap<Vec<String>, Vec<Value>>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        for (field, value) in compared(rule["rule"].as_str().unwrap_or_default()) {
            found.entry([path.as_slice(), &field].concat()).or_default().push(value);
        }
    }
    let items =
        ["items", "additionalProperties"].into_iter().filter_map(|key| Some((EACH, schema.get(key)?)));
    for (name, schema) in properties(schema).map(|(name, schema)| (name.as_str(), schema)).chain(items) {
        // One level more than fields have: rules of lists are at their items.
        if path.len() <= DEPTH + 1 {
            path.push(name.to_owned());
            add_rules(schema, path, found);
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    fn texts(object: &Value, schema: &Value, accepts: Accepts<'_>) -> Vec<String> {
        fields(object, schema, accepts).changes.iter().map(Change::text).collect()
    }

    #[test]
    fn fields_are_changed_one_by_one() {
        let schema = json!({"properties": {"spec": {"required": ["size"], "properties": {
            "size": {"type": "integer"}, "in": {"type": "object", "properties": {"on": {"type": "boolean"}}},
            "name": {"type": "string"},
        }}}});
        let object = json!({"spec": {"size": 3, "in": {"on": false}}});
        assert_eq!(
            texts(&object, &schema, &|_| true),
            [
                "spec.in.on = true",
                "spec.name = \"example\"",
                "spec.size = 4",
                "spec.in unset",
                "spec.in.on unset",
                "spec.name = \"example.com\"",
            ]
        );
        let change = Change {
            path: vec![Part::Field("no".into()), Part::Field("a".into())],
            ..Change::of("no", None)
        };
        assert_eq!(with(&object, &[&change]), object);
    }

    #[test]
    fn items_and_rules_lead_to_changes() {
        let schema = json!({"properties": {"spec": {
            "x-kubernetes-validations": [{"rule": "self.ports.all(p, p.port != 7)"}, {"rule": "self.mode in ['a', 'b']"}],
            "required": ["ports", "mode"],
            "properties": {
                "mode": {"type": "string"},
                "ports": {"type": "array", "items": {"type": "object", "required": ["port"],
                    "properties": {"port": {"type": "integer"}}}},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "networks": {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "isCIDR(self)"}]}},
            },
        }}});
        let object = json!({"spec": {"mode": "a", "ports": [{"port": 1}]}});
        let is_valid = |spec: &Value| {
            let networks = &spec["networks"];
            matches!(spec["mode"].as_str(), Some("a" | "b"))
                && (networks.is_null() || networks[0] == "192.0.2.0/24")
        };
        let accepts = |forms: &[&Value]| forms.iter().all(|form| is_valid(&form["spec"]));
        let found = fields(&object, &schema, &accepts);
        let texts: Vec<String> = found.changes.iter().map(Change::text).collect();
        assert_eq!(
            texts,
            [
                "spec.ports = [{\"port\":1},{\"port\":2}]",
                "spec.ports[0].port = 2",
                "spec.networks = [\"192.0.2.0/24\"]",
                "spec.ports[0].port = 7",
                "spec.mode = \"b\"",
                "spec.ports = []",
                "spec.ports[0].port = 6",
                "spec.ports[0].port = 8",
            ]
        );
        assert_eq!(found.untried.into_iter().collect::<Vec<_>>(), ["spec.raw"]);
    }
}
