//! Random schemas, a random edit of each, and random objects: a compatible change invalidates no object, and
//! for a change that breaks stored objects, there is an object that it breaks.

use kubesmith::diff::load::{self, Locator};
use kubesmith::diff::render::{Format, render};
use kubesmith::diff::{self, Allowed, Certainty, Change, Class, Definition, Definitions, Report};
use kubesmith::import::Input;
use kubesmith_apiextensions::structural::{Checker, apply_defaults, prune, validate_crd};
use serde_json::{Map, Value, json};

use super::mutation::Random;

/// Parts of definitions.
pub(crate) const WORDS: &[&str] = &[
    "type: object",
    "type: string",
    "properties:",
    "items:",
    "additionalProperties: true",
    "x-kubernetes-preserve-unknown-fields: true",
    "preserveUnknownFields: true",
    "required: [a]",
    "enum: [1, null, {}]",
    "maximum: -1e308",
    "default: null",
    "storage: true",
    "served: false",
    "name: v1",
    "not: {}",
    "null",
    "[]",
    "{{ .Values.x }}",
];

/// Compares two texts and shows what changed, in both directions and in all forms.
pub(crate) fn compare(old: &str, new: &str) {
    let side =
        |name: &str, text: &str| load::texts(vec![Input { name: name.to_owned(), text: text.to_owned() }]);
    let (old, new) = (side("old.yaml", old), side("new.yaml", new));
    for (from, to) in [(&old, &new), (&new, &old)] {
        let changes = diff::compare(&from.definitions, &to.definitions);
        let mut locator = Locator::new(from, to);
        let report = Report::new(changes, &Allowed::default(), false, |change| locator.locate(change));
        for format in [Format::Text, Format::Json, Format::Github] {
            assert!(render(&report, format).ends_with('\n'));
        }
    }
}

/// Numbers from the input, and after its end, numbers computed from it.
struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
    rest: Random,
}

impl<'a> Choices<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let seed = bytes.iter().fold(14_695_981_039_346_656_037_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211)
        });
        Self { bytes: bytes.iter(), rest: Random::new(seed) }
    }

    fn below(&mut self, limit: usize) -> usize {
        match self.bytes.next() {
            Some(byte) => usize::from(*byte) % limit.max(1),
            None => self.rest.below(limit),
        }
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// Objects that are tried for each change.
const OBJECTS: usize = 40;
/// Objects among which one has to break.
const WITNESSES: usize = 600;

/// Makes a schema, edits it, and checks the verdict with objects.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let old = json!({"type": "object", "properties": {"spec": object(&mut choices, 3)}});
    let mut new = old.clone();
    edit(&mut choices, &mut new);
    let (Some(before), Some(after)) = (definition(&old), definition(&new)) else { return };
    let changes = diff::compare(&before, &after);
    let (Some(from), Some(to)) = (checker(&old, true), checker(&new, false)) else { return };
    if !validate_crd(&crd(&new), Some(&crd(&old))).is_empty() {
        assert!(
            changes.iter().any(|change| change.code.rule().certainty == Certainty::Refused),
            "{old:#} {new:#}"
        );
        return;
    }
    let stored: Vec<&Change> = changes.iter().filter(|change| change.class(false) == Class::Stored).collect();
    if stored.is_empty() {
        for object in objects(&mut choices, &old, &from).take(OBJECTS) {
            if let Some(loss) = lost(&object, &to) {
                panic!("{loss}: {object:#}\n{changes:#?}\n{old:#}\n{new:#}");
            }
        }
        return;
    }
    if changes.iter().all(|change| change.class(true) != Class::Stored) {
        for object in objects(&mut choices, &old, &from).take(OBJECTS) {
            if let Some(loss) = refused(&object, &to) {
                panic!("not tolerated: {loss}: {object:#}\n{changes:#?}\n{old:#}\n{new:#}");
            }
        }
    }
    if stored.iter().any(|change| change.certain) {
        let breaks =
            objects(&mut choices, &old, &from).take(WITNESSES).any(|object| lost(&object, &to).is_some());
        assert!(breaks, "nothing breaks: {stored:#?}\n{old:#}\n{new:#}");
    }
}

fn crd(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
        "status": {"storedVersions": ["v1"]},
    })
}

fn definition(schema: &Value) -> Option<Definitions> {
    let definition = Definition::new(kubesmith::import::canonical(&crd(schema)), &[], Vec::new()).ok()?;
    Some(Definitions::from([(definition.name.clone(), definition)]))
}

/// The validator for objects, if a server accepts the schema.
fn checker(schema: &Value, is_first: bool) -> Option<Checker> {
    if is_first && !validate_crd(&crd(schema), None).is_empty() {
        return None;
    }
    Checker::new(schema).ok()
}

/// Objects that a server with this schema stores.
fn objects<'a>(
    choices: &'a mut Choices<'_>,
    schema: &'a Value,
    checker: &'a Checker,
) -> impl Iterator<Item = Value> + 'a {
    let made = std::iter::repeat_with(move || {
        let spec = value(choices, &schema["properties"]["spec"], 0);
        let mut object =
            json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec});
        prune(checker.schema(), &mut object);
        apply_defaults(checker.schema(), &mut object);
        object
    });
    // Narrow bounds refuse many of them.
    made.take(4 * WITNESSES).filter(|object| checker.create(object).is_empty())
}

/// The change or the errors of an object under another schema, if it does not stay unchanged and valid.
fn lost(object: &Value, checker: &Checker) -> Option<String> {
    let mut read = object.clone();
    let dropped = prune(checker.schema(), &mut read);
    if !dropped.is_empty() || read != *object {
        return Some(format!("dropped {dropped:?}"));
    }
    apply_defaults(checker.schema(), &mut read);
    if !covers(&read, object) {
        return Some("replaced".to_owned());
    }
    checker.create(&read).first().map(ToString::to_string)
}

/// The result of an update under another schema that only changes labels, if it fails.
fn refused(object: &Value, checker: &Checker) -> Option<String> {
    let mut read = object.clone();
    let dropped = prune(checker.schema(), &mut read);
    apply_defaults(checker.schema(), &mut read);
    if !dropped.is_empty() || !covers(&read, object) {
        return Some(format!("dropped {dropped:?}, or replaced"));
    }
    let mut updated = read.clone();
    updated["metadata"]["labels"] = json!({"touched": "true"});
    checker.update(&updated, &read).first().map(ToString::to_string)
}

/// Whether everything of `part` is in `whole`.
fn covers(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|found| covers(found, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| covers(whole, part))
        }
        (whole, part) => whole == part,
    }
}

const NAMES: &[&str] = &["a", "b", "c", "d"];
const FORMATS: &[(&str, &str)] = &[
    ("date-time", "2026-01-01T00:00:00Z"),
    ("ipv4", "10.0.0.1"),
    ("uuid", "7d444840-9dc0-11d1-b245-5ffdce74fad2"),
    ("date", "2026-01-01"),
];
const PATTERNS: &[&str] = &["^[a-c]+$", "^[a-b]+$", "^a"];

fn object(choices: &mut Choices<'_>, depth: usize) -> Value {
    let count = 1 + choices.below(3);
    let names = &NAMES[..count];
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), node(choices, depth - 1))).collect();
    let required: Vec<&str> = names.iter().copied().filter(|_| choices.one_in(4)).collect();
    let mut out = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    if choices.one_in(8) {
        out["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if choices.one_in(10) {
        out["maxProperties"] = json!(2 + choices.below(2));
    }
    out
}

fn node(choices: &mut Choices<'_>, depth: usize) -> Value {
    let kinds = if depth == 0 { 9 } else { 14 };
    let mut out = match choices.below(kinds) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "string", "minLength": choices.below(3), "maxLength": 3 + choices.below(4)}),
        2 => json!({"type": "string", "enum": NAMES[..1 + choices.below(4)]}),
        3 => json!({"type": "string", "pattern": choices.of(PATTERNS)}),
        4 => json!({"type": "string", "format": choices.of(FORMATS).0}),
        5 => json!({"type": "integer", "minimum": choices.below(4), "maximum": 6 + choices.below(4)}),
        6 => json!({"type": "number", "minimum": choices.below(4), "exclusiveMinimum": choices.one_in(2)}),
        7 => json!({"type": "boolean"}),
        8 => json!({"x-kubernetes-int-or-string": true}),
        9 => json!({"type": "array", "items": node(choices, depth - 1), "maxItems": 2 + choices.below(2)}),
        10 => json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
        11 => json!({"type": "object", "additionalProperties": node(choices, depth - 1)}),
        12 => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        _ => object(choices, depth),
    };
    if choices.one_in(8) {
        out["nullable"] = json!(true);
    }
    if let Some(default) = default(&out).filter(|_| choices.one_in(8)) {
        out["default"] = default;
    }
    out
}

/// A default that is valid in these schemas, if it is easy to find.
fn default(schema: &Value) -> Option<Value> {
    match schema["type"].as_str() {
        Some("boolean") => Some(json!(true)),
        Some("integer") => schema.get("minimum").cloned(),
        Some("string") => schema["enum"].as_array().map_or_else(
            || schema.as_object().is_some_and(|keys| keys.len() == 1).then(|| json!("dd")),
            |values| values.first().cloned(),
        ),
        _ => None,
    }
}

/// The places of schemas in a schema.
fn places(schema: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        places(below, &format!("{at}/properties/{name}"), out);
    }
    for key in ["items", "additionalProperties"] {
        if schema.get(key).is_some_and(Value::is_object) {
            places(&schema[key], &format!("{at}/{key}"), out);
        }
    }
}

/// Changes one thing.
fn edit(choices: &mut Choices<'_>, schema: &mut Value) {
    let mut found = Vec::new();
    places(&schema["properties"]["spec"], "/properties/spec", &mut found);
    let at = choices.of(&found);
    let fresh = node(choices, 1);
    let Some(node) = schema.pointer_mut(&at) else { return };
    match choices.below(8) {
        0 if node["type"] == "object" => fields(choices, node, fresh),
        0 | 1 => *node = if at == "/properties/spec" { node.clone() } else { fresh },
        2 => flip(node, "nullable"),
        3 => match node.get("default").is_some() {
            true => drop(node.as_object_mut().and_then(|keys| keys.remove("default"))),
            false => node["default"] = default(node).unwrap_or_default(),
        },
        4 if node["type"] == "object" => flip(node, "x-kubernetes-preserve-unknown-fields"),
        5 => rule(choices, node),
        _ => bound(choices, node),
    }
    // A default of nothing is none.
    if node["default"].is_null()
        && let Some(keys) = node.as_object_mut()
    {
        keys.remove("default");
    }
}

fn flip(node: &mut Value, key: &str) {
    let Some(keys) = node.as_object_mut() else { return };
    if keys.remove(key).is_none() {
        keys.insert(key.to_owned(), json!(true));
    }
}

fn fields(choices: &mut Choices<'_>, node: &mut Value, fresh: Value) {
    let name = choices.of(NAMES);
    let mut required: Vec<Value> = node["required"].as_array().cloned().unwrap_or_default();
    match choices.below(3) {
        0 if node["properties"].get(name).is_some() => {
            node["properties"].as_object_mut().and_then(|all| all.remove(name));
            required.retain(|found| found != name);
        }
        1 if node["properties"].get(name).is_some() => {
            match required.iter().position(|found| found == name) {
                Some(at) => drop(required.remove(at)),
                None => required.push(json!(name)),
            }
        }
        _ if node.get("additionalProperties").is_none() && node["properties"].get(name).is_none() => {
            node["properties"][name] = fresh;
        }
        _ => {}
    }
    if required.is_empty() {
        node.as_object_mut().and_then(|keys| keys.remove("required"));
    } else {
        node["required"] = required.into();
    }
}

fn rule(choices: &mut Choices<'_>, node: &mut Value) {
    match (node["type"].as_str(), choices.below(3)) {
        (Some("integer"), 0) => node["x-kubernetes-validations"] = json!([{"rule": "self != 7"}]),
        (Some("string"), 0) => node["x-kubernetes-validations"] = json!([{"rule": "self != 'a'"}]),
        (Some("string"), 1) => node["not"] = json!({"pattern": "^c"}),
        (Some("object"), 0) => node["anyOf"] = json!([{"required": ["a"]}, {"required": ["b"]}]),
        (Some("object"), 1) if node.get("properties").is_some() => {
            node["x-kubernetes-validations"] = json!([{"rule": "!has(self.a)"}]);
        }
        _ => bound(choices, node),
    }
}

/// Moves, adds or removes a constraint.
fn bound(choices: &mut Choices<'_>, node: &mut Value) {
    let keys: &[&str] = match node["type"].as_str() {
        Some("integer" | "number") => &["minimum", "maximum", "exclusiveMinimum", "multipleOf", "format"],
        Some("string") => &["minLength", "maxLength", "pattern", "format", "enum"],
        Some("array") => &["minItems", "maxItems", "x-kubernetes-list-type"],
        Some("object") => &["minProperties", "maxProperties", "x-kubernetes-map-type"],
        Some("boolean") => &["enum"],
        _ => &["type"],
    };
    let key = choices.of(keys);
    let is_text = node["type"] == "string";
    let fresh = match key {
        "minimum" | "minLength" | "minItems" => json!(choices.below(5)),
        "minProperties" => json!(choices.below(3)),
        "maximum" => json!(4 + choices.below(8)),
        "maxLength" => json!(2 + choices.below(6)),
        "maxItems" | "maxProperties" => json!(1 + choices.below(4)),
        "exclusiveMinimum" => json!(true),
        "multipleOf" => json!(1 + choices.below(4)),
        "pattern" => json!(choices.of(PATTERNS)),
        "format" if is_text => json!(choices.of(FORMATS).0),
        "format" if node["type"] == "integer" => json!(choices.of(&["int32", "int64"])),
        "format" => json!("double"),
        "enum" if is_text => json!(NAMES[choices.below(2)..2 + choices.below(3)]),
        "enum" => json!([[true, false], [true, true]][choices.below(2)][..1 + choices.below(2)]),
        "x-kubernetes-list-type" => json!(choices.of(&["set", "atomic"])),
        "x-kubernetes-map-type" => json!(choices.of(&["granular", "atomic"])),
        _ => json!("string"),
    };
    let Some(keywords) = node.as_object_mut() else { return };
    if choices.one_in(3) {
        keywords.remove(key);
    } else {
        if key == "type" {
            keywords.clear();
        }
        keywords.insert(key.to_owned(), fresh);
    }
}

/// A value that is likely to be valid and at a bound.
fn value(choices: &mut Choices<'_>, schema: &Value, depth: usize) -> Value {
    if schema["nullable"] == true && choices.one_in(5) {
        return Value::Null;
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return choices.of(values);
    }
    let number = |key: &str| schema[key].as_i64();
    match schema["type"].as_str() {
        Some("string") => text(choices, schema),
        Some("integer") => {
            let (low, high) = (number("minimum").unwrap_or(-3), number("maximum").unwrap_or(14));
            let step = number("multipleOf").unwrap_or(1).max(1);
            let far = if schema.get("maximum").is_none() { 3_000_000_000 } else { high };
            let any = low + i64::try_from(choices.below(16)).unwrap_or(0);
            let chosen = choices.of(&[low, low + 1, high, high - 1, any, any, any, far]);
            json!(chosen / step * step)
        }
        Some("number") => {
            let low = schema["minimum"].as_f64().unwrap_or(-3.0);
            let high = schema["maximum"].as_f64().unwrap_or(14.0);
            let any = low + choices.below(60) as f64 / 4.0;
            json!(choices.of(&[low, low + 0.5, low + 1.0, high, high - 0.5, any, any]))
        }
        Some("boolean") => json!(choices.one_in(2)),
        Some("array") => {
            let least = usize::try_from(number("minItems").unwrap_or(0)).unwrap_or(0);
            let most = usize::try_from(number("maxItems").unwrap_or(5)).unwrap_or(5);
            let count = least + choices.below(most.saturating_sub(least) + 1);
            let items = (0..count).map(|_| value(choices, &schema["items"], depth + 1)).collect::<Vec<_>>();
            // A duplicate item.
            match items.first() {
                Some(first) if choices.one_in(3) && items.len() < most => {
                    json!(items.iter().chain([first]).collect::<Vec<_>>())
                }
                _ => json!(items),
            }
        }
        Some("object") => map(choices, schema, depth),
        _ if schema["x-kubernetes-int-or-string"] == true => choices.of(&[json!(7), json!("50%")]),
        _ => choices.of(&[json!(7), json!("x"), json!({"a": 1}), json!([{"b": 1}]), json!(true)]),
    }
}

fn text(choices: &mut Choices<'_>, schema: &Value) -> Value {
    if let Some((_, example)) = FORMATS.iter().find(|(name, _)| schema["format"] == *name) {
        return json!(example);
    }
    let size = |key: &str, otherwise: usize| {
        schema[key].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(otherwise)
    };
    let (least, most) = (size("minLength", 0), size("maxLength", 9));
    let length =
        choices.of(&[least, least + 1, most, most.saturating_sub(1), 1]).clamp(least, most.max(least));
    let has_pattern = schema.get("pattern").is_some();
    let letters: Vec<char> = if has_pattern { "abc" } else { "abcdX" }.chars().collect();
    let mut text: String = (0..length).map(|_| choices.of(&letters)).collect();
    // A text that most patterns accept. Otherwise, a map of many texts would hardly ever be valid.
    if has_pattern && most > 0 && !choices.one_in(8) {
        text.replace_range(..text.len().min(1), "a");
    }
    json!(text)
}

fn map(choices: &mut Choices<'_>, schema: &Value, depth: usize) -> Value {
    let mut out = Map::new();
    // Sometimes the smallest value, which a new lower bound refuses.
    let is_least = choices.one_in(12);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required =
            schema["required"].as_array().is_some_and(|names| names.iter().any(|found| found == name));
        if is_required || !(is_least || choices.one_in(4)) {
            out.insert(name.clone(), value(choices, property, depth + 1));
        }
    }
    if is_least {
        return Value::Object(out);
    }
    if schema["additionalProperties"].is_object() {
        // More than any `maxProperties`.
        for name in &["a", "b", "c", "d", "e", "f"][..choices.below(7)] {
            out.insert((*name).to_owned(), value(choices, &schema["additionalProperties"], depth + 1));
        }
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        for name in NAMES.iter().chain(&["y", "z"]).filter(|name| schema["properties"].get(**name).is_none())
        {
            if choices.one_in(2) {
                out.insert(
                    (*name).to_owned(),
                    choices.of(&[json!(1), json!("x"), json!({"a": {"b": 1}}), json!([1])]),
                );
            }
        }
    }
    Value::Object(out)
}
