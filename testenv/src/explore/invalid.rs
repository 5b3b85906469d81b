//! Objects that no operator can be expected to work with: each breaks one constraint of the schema, or has a value that a schema should
//! rule out.

use serde_json::{Value, json};

use super::vary::{Accepts, Change, DEPTH, below, properties, with};

/// How many such objects are tried at most.
const MOST: usize = 24;
/// Longer texts and lists are not made.
const LONGEST: u64 = 1_000;

/// A value that is wrong or odd.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InvalidValue {
    pub(super) change: Change,
    /// The constraint that is broken; `None` if the schema has none against it.
    pub(super) broken: Option<&'static str>,
}

/// Objects that a server takes though it should not.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    /// Those that break a constraint: a text for each.
    pub(super) broken: Vec<String>,
    /// Those that no constraint is against.
    pub(super) odd: Vec<InvalidValue>,
}

/// Tries objects that break a constraint or are odd; `accepts` asks the server.
pub(super) fn accepted(object: &Value, schema: &Value, accepts: Accepts<'_>) -> Accepted {
    let mut found = Accepted::default();
    for odd in values(&object["spec"], &schema["properties"]["spec"], 0) {
        let variant = with(object, &[&odd.change]);
        let is_full = odd.broken.is_none() && found.odd.len() == MOST;
        let forms = [object, &variant, object];
        // An odd object is applied and corrected.
        let forms = if odd.broken.is_some() { &forms[1..2] } else { &forms };
        if is_full || variant == *object || !accepts(forms) {
            continue;
        }
        match odd.broken {
            Some(constraint) => {
                found.broken.push(format!("{} is accepted against {constraint}", odd.change.text()));
            }
            None => found.odd.push(odd),
        }
    }
    found
}

fn values(value: &Value, schema: &Value, depth: usize) -> Vec<InvalidValue> {
    let mut all = Vec::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        // A default fills the field in.
        if schema["properties"][name].get("default").is_none() {
            all.push(InvalidValue { change: Change::of(name, None), broken: Some("required") });
        }
    }
    for (name, field) in properties(schema).filter(|_| depth < DEPTH) {
        let now = &value[name.as_str()];
        if field["properties"].is_object() && now.is_object() {
            for odd in values(now, field, depth + 1) {
                all.extend(below(name, vec![odd.change]).map(|change| InvalidValue { change, ..odd }));
            }
        }
        let each = broken(now, field).into_iter().map(|(constraint, value)| (Some(constraint), value));
        let odd = odd(field).into_iter().map(|value| (None, value));
        all.extend(
            each.chain(odd)
                .map(|(broken, value)| InvalidValue { change: Change::of(name, Some(value)), broken }),
        );
    }
    all
}

/// Values that break a constraint, with its name.
fn broken(now: &Value, schema: &Value) -> Vec<(&'static str, Value)> {
    let number = |key: &str| schema[key].as_i64();
    let count = |key: &str| schema[key].as_u64().filter(|count| *count < LONGEST);
    let text = |length: u64| json!("a".repeat(usize::try_from(length).unwrap_or_default()));
    let first = now.as_array().and_then(|items| items.first());
    let repeated = |times: u64| {
        first.map(|item| Value::Array(vec![item.clone(); usize::try_from(times).unwrap_or_default()]))
    };
    let kind = schema["type"].as_str().unwrap_or_default();
    let wrong_type = if kind == "string" { json!(1) } else { json!("text") };
    let is_typed = !kind.is_empty() && schema["x-kubernetes-int-or-string"] != true;
    let all = [
        ("minimum", number("minimum").map(|least| json!(least.saturating_sub(1)))),
        ("maximum", number("maximum").map(|most| json!(most.saturating_add(1)))),
        ("minLength", count("minLength").filter(|least| *least > 0).map(|least| text(least - 1))),
        ("maxLength", count("maxLength").map(|most| text(most + 1))),
        ("minItems", count("minItems").filter(|least| *least > 0).map(|_| json!([]))),
        ("maxItems", count("maxItems").and_then(|most| repeated(most + 1))),
        ("enum", schema["enum"].is_array().then(|| json!("no such value"))),
        ("type", is_typed.then_some(wrong_type)),
        ("uniqueItems", (schema["x-kubernetes-list-type"] == "set").then(|| repeated(2)).flatten()),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Values that a schema should rule out if they make no sense.
fn odd(schema: &Value) -> Vec<Value> {
    match schema["type"].as_str() {
        Some("integer") => vec![json!(-1), json!(0)],
        Some("string") if !schema["enum"].is_array() => vec![json!(""), json!("Not valid!")],
        Some("array") => vec![json!([])],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_constraint_is_broken_once() {
        let schema = json!({"properties": {"spec": {"required": ["size", "filled"], "properties": {
            "filled": {"default": 1},
            "size": {"type": "integer", "minimum": 1, "maximum": 3},
            "name": {"type": "string", "minLength": 2, "maxLength": 4},
            "mode": {"type": "string", "enum": ["a"]},
            "list": {"type": "array", "minItems": 1, "x-kubernetes-list-type": "set"},
        }}}});
        let object = json!({"spec": {"size": 1, "name": "ab", "mode": "a", "list": ["x"]}});
        let all = accepted(&object, &schema, &|_| true);
        assert_eq!(
            all.broken,
            [
                "spec.size unset is accepted against required",
                "spec.list = [] is accepted against minItems",
                "spec.list = \"text\" is accepted against type",
                "spec.list = [\"x\",\"x\"] is accepted against uniqueItems",
                "spec.mode = \"no such value\" is accepted against enum",
                "spec.mode = 1 is accepted against type",
                "spec.name = \"a\" is accepted against minLength",
                "spec.name = \"aaaaa\" is accepted against maxLength",
                "spec.name = 1 is accepted against type",
                "spec.size = 0 is accepted against minimum",
                "spec.size = 4 is accepted against maximum",
                "spec.size = \"text\" is accepted against type",
            ]
        );
        let odd: Vec<String> = all.odd.iter().map(|odd| odd.change.text()).collect();
        assert_eq!(
            odd,
            [
                "spec.list = []",
                "spec.name = \"\"",
                "spec.name = \"Not valid!\"",
                "spec.size = -1",
                "spec.size = 0"
            ]
        );
        assert!(accepted(&object, &schema, &|_| false).broken.is_empty());
    }
}
