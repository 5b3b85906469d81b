//! Random CEL rules and a model of them without CEL: an object is stored if all rules hold in the model, and
//! a refusal names the rules that do not.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{Dice, NAMES, Trial, WORDS, object, seeds, value};
use crate::support::call;

/// An expression, and its result for the value of `self` or of one of its fields.
struct Expression {
    text: String,
    model: Box<dyn Fn(&Value) -> bool>,
}

fn expression(text: String, model: impl Fn(&Value) -> bool + 'static) -> Expression {
    Expression { text, model: Box::new(model) }
}

/// A rule on an object that the expression calls `place`.
fn about_object(dice: &mut Dice, schema: &Value, place: &str, depth: u32) -> Expression {
    if depth == 0 || dice.one_in(3) {
        return about_property(dice, schema, place);
    }
    let one = about_object(dice, schema, place, depth - 1);
    let other = about_object(dice, schema, place, depth - 1);
    let (a, b) = (&one.text, &other.text);
    match dice.below(5) {
        0 => expression(format!("({a} && {b})"), move |value| (one.model)(value) && (other.model)(value)),
        1 => expression(format!("({a} || {b})"), move |value| (one.model)(value) || (other.model)(value)),
        2 => expression(format!("({a}) == ({b})"), move |value| (one.model)(value) == (other.model)(value)),
        3 => expression(format!("({a} ? {b} : false)"), move |value| {
            (one.model)(value) && (other.model)(value)
        }),
        _ => expression(format!("!({a})"), move |value| !(one.model)(value)),
    }
}

fn about_property(dice: &mut Dice, schema: &Value, place: &str) -> Expression {
    let properties: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
    let Some((name, property)) = properties.get(dice.below(properties.len().max(1) as u64) as usize).copied()
    else {
        return expression("true".to_owned(), |_| true);
    };
    // A reserved word is escaped, or (from Kubernetes 1.32) written as it is.
    let escaped = if name == "namespace" && dice.one_in(2) { "__namespace__" } else { name.as_str() };
    let place = format!("{place}.{escaped}");
    // kube-apiserver does not find the bounds of fields with a reserved name, so a rule over one costs too much.
    let is_costly =
        name == "namespace" && matches!(property["type"].as_str(), Some("array" | "object" | "string"));
    let inner = about_value(dice, property, &place);
    let text = inner.text;
    // A null is absent.
    let name = name.clone();
    let present = move |value: &Value| value.get(&name).filter(|member| !member.is_null()).cloned();
    match dice.below(if is_costly { 1 } else { 3 }) {
        0 => expression(format!("has({place})"), move |value| present(value).is_some()),
        1 => expression(format!("(has({place}) && {text})"), move |value| {
            present(value).is_some_and(|member| (inner.model)(&member))
        }),
        _ => expression(format!("(!has({place}) || {text})"), move |value| {
            present(value).is_none_or(|member| (inner.model)(&member))
        }),
    }
}

fn about_value(dice: &mut Dice, schema: &Value, place: &str) -> Expression {
    if schema["x-kubernetes-int-or-string"] == true {
        return match dice.below(3) {
            0 => expression(format!("type({place}) == int"), Value::is_number),
            1 => expression(format!("{place} == '7'"), |value| value == "7"),
            _ => expression(format!("{place} == 7"), |value| value == 7),
        };
    }
    match schema["type"].as_str().unwrap() {
        "integer" => about_integer(dice, place),
        "string" => about_text(dice, place),
        "boolean" => expression(place.to_owned(), |value| value == true),
        "array" => about_list(dice, schema, place),
        _ if schema["additionalProperties"].is_object() => about_map(dice, place),
        _ => {
            let inner = about_property(dice, schema, place);
            expression(format!("({})", inner.text), inner.model)
        }
    }
}

fn about_integer(dice: &mut Dice, place: &str) -> Expression {
    let number = dice.below(12) as i64 - 2;
    let with = move |check: fn(i64, i64) -> bool| move |value: &Value| check(value.as_i64().unwrap(), number);
    match dice.below(5) {
        0 => expression(format!("{place} < {number}"), with(|value, number| value < number)),
        1 => expression(format!("{place} >= {number}"), with(|value, number| value >= number)),
        2 => {
            expression(format!("{place} * 2 - 1 != {number}"), with(|value, number| value * 2 - 1 != number))
        }
        // As in Go, a remainder has the sign of the dividend.
        3 => expression(format!("{place} % 3 == {number}"), with(|value, number| value % 3 == number)),
        _ => expression(
            format!("{place} in [1, {number}]"),
            with(|value, number| value == 1 || value == number),
        ),
    }
}

fn about_text(dice: &mut Dice, place: &str) -> Expression {
    let word = dice.pick(&WORDS);
    let with = move |check: fn(&str, &str) -> bool| move |value: &Value| check(value.as_str().unwrap(), word);
    match dice.below(5) {
        0 => expression(format!("{place} == '{word}'"), with(|value, word| value == word)),
        1 => expression(format!("{place} > '{word}'"), with(|value, word| value > word)),
        2 => expression(format!("{place}.startsWith('{word}')"), with(|value, word| value.starts_with(word))),
        3 => expression(
            format!("{place}.matches('^[a-r]+$')"),
            with(|value, _| {
                !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_lowercase() && byte <= b'r')
            }),
        ),
        _ => expression(
            format!("size({place}) == size('{word}')"),
            with(|value, word| value.len() == word.len()),
        ),
    }
}

fn about_list(dice: &mut Dice, schema: &Value, place: &str) -> Expression {
    let items = |value: &Value| value.as_array().unwrap().clone();
    if dice.one_in(3) {
        let number = dice.below(4) as usize;
        return expression(format!("{place}.size() <= {number}"), move |value| items(value).len() <= number);
    }
    let (inner, is_text) = match schema["items"]["type"].as_str() {
        Some("string") => (about_text(dice, "e"), true),
        _ => (about_property(dice, &schema["items"], "e"), false),
    };
    let text = inner.text;
    match dice.below(if is_text { 4 } else { 3 }) {
        0 => {
            expression(format!("{place}.all(e, {text})"), move |value| items(value).iter().all(&inner.model))
        }
        1 => expression(format!("{place}.exists(e, {text})"), move |value| {
            items(value).iter().any(&inner.model)
        }),
        2 => expression(format!("{place}.filter(e, {text}).size() == 1"), move |value| {
            items(value).iter().filter(|item| (inner.model)(item)).count() == 1
        }),
        _ => expression(format!("'red' in {place}"), move |value| items(value).contains(&json!("red"))),
    }
}

fn about_map(dice: &mut Dice, place: &str) -> Expression {
    let name = dice.pick(&NAMES);
    match dice.below(3) {
        0 => expression(format!("'{name}' in {place}"), move |value| value.get(name).is_some()),
        1 => expression(format!("{place}.all(k, k != '{name}')"), move |value| value.get(name).is_none()),
        _ => expression(format!("{place}.size() == 1"), |value| value.as_object().unwrap().len() == 1),
    }
}

/// A value in the form in which CEL compares it: the order of sets and maps in lists does not count.
fn comparable(value: &Value, schema: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| comparable(item, &schema["items"])).collect();
            if schema["x-kubernetes-list-type"] != "atomic" {
                items.sort_by_key(Value::to_string);
            }
            json!(items)
        }
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| {
                let inner = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                (name.clone(), comparable(member, inner))
            })
            .collect(),
        _ => value.clone(),
    }
}

/// The ends of the causes of a refusal.
fn broken(answer: &Value) -> Vec<&str> {
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    causes.map(|cause| cause["message"].as_str().unwrap().rsplit(": ").next().unwrap()).collect()
}

/// Two kinds of one schema: one without rules, which shows what an object is after pruning and defaults, and one with them.
async fn obeys_rules(env: &TestEnv, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut schema = object(&mut dice, 2);
    let plain = Trial::new(env, &format!("plain{seed}.example"), schema.clone(), Dice::new(seed)).await;
    let rules: Vec<_> = (0..3).map(|_| about_object(&mut dice, &schema, "self", 2)).collect();
    let texts =
        rules.iter().enumerate().map(|(i, rule)| json!({"rule": rule.text, "message": format!("rule {i}")}));
    let mut texts: Vec<Value> = texts.collect();
    texts.push(json!({"rule": "self == oldSelf", "message": "changed"}));
    schema["x-kubernetes-validations"] = json!(texts);
    let ruled = Trial::new(env, &format!("ruled{seed}.example"), schema.clone(), Dice::new(seed)).await;
    let mut stored: Option<Value> = None;
    for round in 0..6 {
        let name = format!("thing-{round}");
        let spec = plain.create(&name, &value(&mut dice, &schema, true)).await["spec"].clone();
        let mut wanted: Vec<String> =
            (0..rules.len()).filter(|i| !(rules[*i].model)(&spec)).map(|i| format!("rule {i}")).collect();
        let (code, answer) = call(env, Method::POST, &ruled.path, ruled.thing(&name, &spec)).await;
        assert_eq!(
            (code == 201, broken(&answer)),
            (wanted.is_empty(), wanted.iter().map(String::as_str).collect()),
            "{spec} under {texts:?}: {answer}"
        );
        if let Some(old) = &stored {
            let mut new = old.clone();
            new["spec"] = spec.clone();
            let path = format!("{}/{}", ruled.path, old["metadata"]["name"].as_str().unwrap());
            let (code, answer) = call(env, Method::PUT, &path, new).await;
            if comparable(&spec, &schema) != comparable(&old["spec"], &schema) {
                wanted.push("changed".to_owned());
            }
            assert_eq!(
                (code == 200, broken(&answer)),
                (wanted.is_empty(), wanted.iter().map(String::as_str).collect()),
                "{old} to {spec} under {texts:?}: {answer}"
            );
        } else if code == 201 {
            stored = Some(answer);
        }
    }
}

#[tokio::test]
async fn rules_refuse_the_objects_that_a_model_of_them_refuses() {
    let env = TestEnv::builder().start().await.unwrap();
    for seed in seeds() {
        // A failing test shows this output.
        println!("INVARIANT_SEEDS={seed}..{}", seed + 1);
        obeys_rules(&env, seed).await;
    }
    env.stop().await;
}
