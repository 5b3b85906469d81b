//! Values to try for a field, by its schema.

use kubesmith_apiextensions::sample::Maker;
use kubesmith_apiextensions::schema::Schema;
use serde_json::{Map, Value, json};

/// The key that maps gain.
const ENTRY: &str = "other";
/// The limit of groups for a field.
const MOST_GROUPS: usize = 10;
/// A bound that is further away is not tried: the number may be one of objects.
const FARTHEST: f64 = 256.0;
/// Longer texts and lists are not made.
const LONGEST_TEXT: u64 = 253;
const LONGEST_LIST: u64 = 16;
/// The number of made values that are tried until the server takes one.
const SALTS: usize = 4;

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::explore) enum Origin {
    /// A value beside the one that the object has.
    Other,
    /// None: the field is unset.
    Unset,
    /// The entries of a list in another order.
    Order,
    /// Only the schema says that it makes sense: a bound, a value from a rule, or any for a field that is not set.
    Made,
}

/// Values of which the first one that the server takes is tried. `None` unsets the field.
pub(super) type Group = (Origin, Vec<Option<Value>>);

/// Returns the groups of a field, the most important first. If it is set, the first group has other values, and the second
/// one unsets it. `compared` are values from rules.
pub(super) fn groups(now: &Value, schema: &Value, is_optional: bool, compared: &[Value]) -> Vec<Group> {
    let some = |values: Vec<Value>| values.into_iter().map(Some).collect::<Vec<_>>();
    let mut groups: Vec<Group> = match now {
        Value::Null => unset(schema).into_iter().map(|values| (Origin::Made, some(values))).collect(),
        _ => {
            let unsets = if is_optional { vec![None] } else { Vec::new() };
            let first = [(Origin::Other, some(others(now, schema))), (Origin::Unset, unsets)];
            let more = further(now, schema).into_iter().map(|(origin, value)| (origin, vec![Some(value)]));
            first.into_iter().chain(more).collect()
        }
    };
    let start = if now.is_null() { made(schema, 0) } else { Some(now.clone()) };
    let bounds = start.into_iter().flat_map(|start| bounds(&start, schema));
    let compared = compared.iter().filter(|value| has_type(value, schema)).cloned();
    groups.extend(compared.chain(bounds).map(|value| (Origin::Made, vec![Some(value)])));
    // The server sets a default anyway.
    let mut known = vec![now.clone(), schema["default"].clone()];
    for (_, values) in groups.iter_mut().filter(|(origin, _)| *origin != Origin::Unset) {
        values.retain(|value| value.as_ref().is_some_and(|value| !known.contains(value)));
        known.extend(values.first().cloned().flatten());
    }
    groups.truncate(MOST_GROUPS);
    groups
}

/// Returns the values beside the one that a field has. The first one that the server takes is enough.
pub(super) fn others(now: &Value, schema: &Value) -> Vec<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().find(|value| *value != now).cloned().into_iter().collect();
    }
    match now {
        Value::Bool(now) => vec![json!(!now)],
        Value::Number(_) => {
            let is_most = now.as_f64().zip(schema["maximum"].as_f64()).is_some_and(|(now, most)| now >= most);
            [!is_most, is_most].into_iter().filter_map(|is_more| stepped(now, schema, is_more)).collect()
        }
        Value::String(text) => texts(text, schema),
        Value::Array(items) => {
            let fewer = (items.len() > 1).then(|| items[..items.len() - 1].to_vec());
            let again = items.first().map(|first| [items.as_slice(), std::slice::from_ref(first)].concat());
            let lists = fewer.into_iter().chain(longer(items, schema)).chain(again);
            lists.map(Value::Array).collect()
        }
        Value::Object(map) => with_entry(map, schema).into_iter().collect(),
        Value::Null => Vec::new(),
    }
}

/// Returns values for a field that is not set, in groups.
pub(super) fn unset(schema: &Value) -> Vec<Vec<Value>> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| vec![value.clone()]).collect();
    }
    match kind(schema) {
        "boolean" => vec![vec![json!(true)], vec![json!(false)]],
        "object" if schema["additionalProperties"].is_object() => {
            vec![with_entry(&Map::new(), schema).into_iter().collect()]
        }
        "object" => {
            let all = Maker { all: true, ..Maker::default() };
            let values = [Maker::default(), all].into_iter().filter_map(|maker| make(&maker, schema, 0));
            values.filter(|value| *value != json!({})).map(|value| vec![value]).collect()
        }
        kind => {
            let mut values: Vec<Value> = (0..SALTS).filter_map(|salt| made(schema, salt)).collect();
            // The least number is often what an unset field means.
            if matches!(kind, "integer" | "number") && values.len() > 1 {
                values.rotate_left(1);
            }
            let second = values.iter().skip(1).cloned().collect();
            vec![values, second]
        }
    }
}

fn kind(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}

fn has_type(value: &Value, schema: &Value) -> bool {
    match kind(schema) {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        kind => kind.is_empty() && (value.is_string() || value.is_number()),
    }
}

fn made(schema: &Value, salt: usize) -> Option<Value> {
    make(&Maker::default(), schema, salt)
}

fn make(maker: &Maker, schema: &Value, salt: usize) -> Option<Value> {
    let is_open = kind(schema).is_empty() && schema["x-kubernetes-int-or-string"] != true;
    let parsed: Schema = serde_json::from_value(schema.clone()).ok().filter(|_| !is_open)?;
    Some(maker.value(&parsed, salt)).filter(|value| *value != json!(""))
}

/// A number with one step more, or less.
fn stepped(now: &Value, schema: &Value, is_more: bool) -> Option<Value> {
    let step = &schema["multipleOf"];
    let whole = if step.is_null() { Some(1) } else { step.as_i64() };
    if let (Some(now), Some(step)) = (now.as_i64(), whole) {
        return Some(json!(if is_more { now.checked_add(step)? } else { now.checked_sub(step)? }));
    }
    let (now, step) = (now.as_f64()?, step.as_f64().unwrap_or(1.0));
    Some(json!(if is_more { now + step } else { now - step }))
}

/// Texts beside one: with more characters, with a greater number in it, and any that the schema accepts. Amounts, such as
/// `10Gi`, stay amounts.
fn texts(now: &str, schema: &Value) -> Vec<Value> {
    let longer = format!("{now}2");
    let is_amount = now.starts_with(|c: char| c.is_ascii_digit())
        && now.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '%'))
        && now.matches('.').count() <= 1;
    let (first, second) = if is_amount { (counted(now), Some(longer)) } else { (Some(longer), counted(now)) };
    let texts = first.into_iter().chain(second).map(Value::String);
    texts.chain((0..SALTS).filter_map(|salt| made(schema, salt))).collect()
}

/// The text with its first number one greater.
fn counted(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[start..start + digits].parse().ok()?;
    Some(format!("{}{}{}", &text[..start], number.checked_add(1)?, &text[start + digits..]))
}

/// The list with one more item, which differs from the last one.
fn longer(items: &[Value], schema: &Value) -> Option<Vec<Value>> {
    let item = match items.last() {
        Some(last) => other_item(last, schema),
        None => made(&schema["items"], 0)?,
    };
    Some([items, &[item]].concat())
}

/// An item beside one: of an object, a key differs, or the field that looks like one.
fn other_item(item: &Value, list: &Value) -> Value {
    let schema = &list["items"];
    let mut other = item.clone();
    let Some(map) = other.as_object_mut() else {
        return others(item, schema).into_iter().next().unwrap_or(other);
    };
    let names = |names: &Value| names.as_array().cloned().unwrap_or_default();
    let keys = names(&list["x-kubernetes-list-map-keys"]).into_iter();
    let keys = keys.chain([json!("name")]).chain(names(&schema["required"]));
    for key in keys.filter_map(|key| key.as_str().map(str::to_owned)) {
        if let Some(value) = others(&item[&key], &schema["properties"][&key]).into_iter().next() {
            map.insert(key, value);
            break;
        }
    }
    other
}

/// The map with one more entry.
fn with_entry(map: &Map<String, Value>, schema: &Value) -> Option<Value> {
    let values = schema.get("additionalProperties").filter(|values| values.is_object())?;
    let text = (values["type"] == "string" && values["enum"].is_null()).then(|| json!(ENTRY));
    let value = map.values().next().cloned().or(text).or_else(|| made(values, 0))?;
    let mut map = map.clone();
    map.insert(ENTRY.to_owned(), value);
    Some(Value::Object(map))
}

/// Further values beside the one that a field has.
fn further(now: &Value, schema: &Value) -> Vec<(Origin, Value)> {
    let mut more = Vec::new();
    if let Some(values) = schema["enum"].as_array() {
        more.extend(values.iter().map(|value| (Origin::Other, value.clone())));
    }
    match now {
        Value::Array(items) => {
            more.extend(longer(items, schema).map(|longer| (Origin::Other, Value::Array(longer))));
            if items.len() == 1 {
                more.push((Origin::Other, json!([])));
            }
            more.push((Origin::Order, items.iter().rev().cloned().collect()));
            // Items that are objects are changed field by field.
            let first = items.first().filter(|item| !item.is_object());
            let other = first.and_then(|item| others(item, &schema["items"]).into_iter().next());
            let with = |other: Value| [&[other], &items[1..]].concat();
            more.extend(other.map(|other| (Origin::Other, Value::Array(with(other)))));
        }
        Value::Object(map) if schema["additionalProperties"].is_object() => {
            let Some((key, value)) = map.iter().next() else { return more };
            let mut fewer = map.clone();
            fewer.remove(key);
            more.push((Origin::Other, Value::Object(fewer)));
            if let Some(other) = others(value, &schema["additionalProperties"]).into_iter().next() {
                let mut changed = map.clone();
                changed.insert(key.clone(), other);
                more.push((Origin::Other, Value::Object(changed)));
            }
        }
        _ => {}
    }
    more
}

/// The values at the bounds of the schema, if they are near.
fn bounds(now: &Value, schema: &Value) -> Vec<Value> {
    let count = |key: &str, most: u64| {
        let bound = schema[key].as_u64().filter(|bound| *bound > 0 && *bound <= most)?;
        usize::try_from(bound).ok()
    };
    match now {
        Value::Number(_) => {
            let sides = [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)];
            let near = sides.into_iter().filter(|(key, ..)| {
                let distance =
                    now.as_f64().zip(schema[*key].as_f64()).map(|(now, bound)| (now - bound).abs());
                distance.is_some_and(|distance| distance <= FARTHEST)
            });
            near.filter_map(|(key, exclusive, is_more)| match schema[exclusive] == true {
                true => stepped(&schema[key], schema, is_more),
                false => Some(schema[key].clone()),
            })
            .collect()
        }
        Value::String(_) if schema["enum"].is_null() => {
            [("minLength", "maxLength"), ("maxLength", "minLength")]
                .into_iter()
                .filter_map(|(key, other)| {
                    let mut exact = schema.clone();
                    exact[other] = json!(count(key, LONGEST_TEXT)?);
                    for key in ["default", "example"] {
                        exact.as_object_mut()?.remove(key);
                    }
                    made(&exact, 0)
                })
                .collect()
        }
        Value::Array(items) => {
            let least = count("minItems", LONGEST_LIST).filter(|least| *least < items.len());
            let most = count("maxItems", LONGEST_LIST).filter(|most| *most > items.len());
            let least = least.map(|least| items[..least].to_vec());
            let most = most.and_then(|most| {
                (items.len()..most).try_fold(items.clone(), |items, _| longer(&items, schema))
            });
            least.into_iter().chain(most).map(Value::Array).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first value of each group.
    fn tried(now: Value, schema: Value) -> Vec<Value> {
        let groups = groups(&now, &schema, false, &[]).into_iter();
        groups.filter_map(|(_, values)| values.into_iter().next()?).collect()
    }

    #[test]
    fn values_of_unset_fields_follow_the_schema() {
        for (schema, values) in [
            (json!({"type": "string", "format": "date-time"}), json!(["2030-01-01T00:00:00Z"])),
            (json!({"type": "string", "pattern": "^v[0-9]$"}), json!(["v0", "v1"])),
            (json!({"type": "string", "enum": ["a", "b"], "default": "a"}), json!(["b"])),
            (json!({"type": "integer", "minimum": 2, "maximum": 9}), json!([3, 4, 2, 9])),
            (json!({"type": "integer", "maximum": 900}), json!([2, 3])),
            (json!({"type": "boolean", "default": true}), json!([false])),
            (
                json!({"type": "array", "items": {"type": "string"}, "maxItems": 2}),
                json!([["example"], ["example", "example2"]]),
            ),
            (json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!([{"other": 1}])),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}),
                json!([{"a": "example"}, {"a": "example", "b": false}]),
            ),
            (json!({"x-kubernetes-preserve-unknown-fields": true}), json!([])),
        ] {
            assert_eq!(json!(tried(Value::Null, schema.clone())), values, "{schema}");
        }
    }

    #[test]
    fn lists_gain_lose_and_reorder_entries() {
        let schema = json!({"type": "array", "x-kubernetes-list-map-keys": ["port"], "items": {"type": "object",
            "properties": {"port": {"type": "integer"}, "name": {"type": "string"}}}});
        let item = |port: u64| json!({"port": port, "name": "a"});
        assert_eq!(
            tried(json!([item(1), item(2)]), schema.clone()),
            [json!([item(1)]), json!([item(1), item(2), item(3)]), json!([item(2), item(1)])]
        );
        assert_eq!(tried(json!([item(1)]), schema), [json!([item(1), item(2)]), json!([])]);
        let texts = json!({"type": "array", "items": {"type": "string"}, "minItems": 1});
        assert_eq!(
            tried(json!(["a", "b"]), texts),
            [json!(["a"]), json!(["a", "b", "b2"]), json!(["b", "a"]), json!(["a2", "b"])]
        );
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        assert_eq!(
            tried(json!({"k": "v"}), map),
            [json!({"k": "v", "other": "v"}), json!({}), json!({"k": "v2"})]
        );
    }

    #[test]
    fn bounds_and_all_words_are_valid_values() {
        let schema = json!({"type": "integer", "minimum": 0, "maximum": 10, "exclusiveMaximum": true});
        assert_eq!(tried(json!(3), schema), [json!(4), json!(0), json!(9)]);
        assert_eq!(tried(json!(3), json!({"type": "integer", "maximum": 65535})), [json!(4)]);
        let schema = json!({"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"});
        assert_eq!(tried(json!("abc"), schema), [json!("abc2"), json!("ee"), json!("aaaa")]);
        assert_eq!(
            tried(json!("a"), json!({"type": "string", "enum": ["a", "b", "c"]})),
            [json!("b"), json!("c")]
        );
        assert_eq!(tried(json!("10Gi"), json!({"type": "string"})), [json!("11Gi")]);
        assert_eq!(tried(json!(1.5), json!({"type": "number", "multipleOf": 0.5})), [json!(2.0)]);
    }

    #[test]
    fn values_of_rules_have_the_type_of_the_field() {
        let values = [json!("a"), json!(5)];
        let groups = groups(&json!(1), &json!({"type": "integer"}), true, &values);
        assert_eq!(groups.last(), Some(&(Origin::Made, vec![Some(json!(5))])));
        assert_eq!(groups[1], (Origin::Unset, vec![None]));
    }
}
