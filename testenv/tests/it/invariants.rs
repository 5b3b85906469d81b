//! Invariants of kube-apiserver for all schemas, objects, patches and selectors: a default is valid, a stored
//! object can be stored again unchanged, a repeated apply writes nothing, a merge patch and its JSON patch
//! have the same result, rules refuse the same objects as a model of them, a selector selects the objects
//! that match its text.
//!
//! `INVARIANT_SEEDS=FROM..TO` tries other seeds.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Map, Value, json};

use crate::support::{call, patch, send};

mod rules;

/// How many random schemas the test tries.
const SEEDS: u64 = 40;
const NAMES: [&str; 5] = ["a", "b", "size", "type", "namespace"];
const WORDS: [&str; 4] = ["", "red", "0", "x-y"];

/// Random choices that a seed decides (xorshift64*).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

/// A structural schema whose defaults are valid.
fn schema(dice: &mut Dice, depth: u32) -> Value {
    let mut schema = match dice.below(if depth == 0 { 4 } else { 8 }) {
        0 => json!({"type": "integer", "minimum": -2, "maximum": 9}),
        1 => json!({"type": "string", "enum": WORDS}),
        2 => json!({"type": "boolean"}),
        3 => json!({"x-kubernetes-int-or-string": true}),
        4 => {
            let items = json!({"type": "string", "enum": WORDS});
            let kind = dice.pick(&["atomic", "set"]);
            json!({"type": "array", "items": items, "x-kubernetes-list-type": kind, "maxItems": 6})
        }
        5 => {
            let mut item = object(dice, 0);
            item["properties"]["name"] = json!({"type": "string", "maxLength": 20});
            item["required"] = json!(["name"]);
            json!({"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                   "maxItems": 6})
        }
        6 => json!({"type": "object", "additionalProperties": schema(dice, 0), "maxProperties": 6}),
        _ => object(dice, depth - 1),
    };
    if dice.one_in(4) {
        schema["nullable"] = json!(true);
    }
    if dice.one_in(3) {
        schema["default"] = value(dice, &schema, false);
    }
    schema
}

fn object(dice: &mut Dice, depth: u32) -> Value {
    let mut properties = Map::new();
    for _ in 0..=dice.below(3) {
        properties.insert(dice.pick(&NAMES).to_owned(), schema(dice, depth));
    }
    json!({"type": "object", "properties": properties})
}

/// A value that a schema accepts; with `strange`, it may have fields that the schema does not know.
fn value(dice: &mut Dice, schema: &Value, strange: bool) -> Value {
    if schema["x-kubernetes-int-or-string"] == true {
        return if dice.one_in(2) { json!(7) } else { json!("7") };
    }
    match schema["type"].as_str().unwrap() {
        "integer" => json!(dice.below(12) as i64 - 2),
        "string" if schema["enum"].is_array() => json!(dice.pick(&WORDS)),
        "string" => json!(dice.pick(&NAMES)),
        "boolean" => json!(dice.one_in(2)),
        "array" => items(dice, schema, strange),
        _ => members(dice, schema, strange),
    }
}

fn items(dice: &mut Dice, schema: &Value, strange: bool) -> Value {
    let mut items: Vec<Value> = Vec::new();
    for _ in 0..dice.below(4) {
        let mut item = value(dice, &schema["items"], strange);
        if item.is_object() {
            item["name"] = json!(dice.pick(&NAMES));
        }
        // Keys and elements of sets are unique.
        let key = |item: &Value| if item.is_object() { item["name"].clone() } else { item.clone() };
        if schema["x-kubernetes-list-type"] == "atomic" || !items.iter().any(|other| key(other) == key(&item))
        {
            items.push(item);
        }
    }
    json!(items)
}

fn members(dice: &mut Dice, schema: &Value, strange: bool) -> Value {
    let mut members = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if dice.one_in(2) {
            // An enum without null refuses it, also for a nullable field.
            let is_null = property["nullable"] == true && !property["enum"].is_array() && dice.one_in(5);
            members.insert(name.clone(), if is_null { Value::Null } else { value(dice, property, strange) });
        }
    }
    if schema["additionalProperties"].is_object() {
        for name in NAMES.iter().take(usize::try_from(dice.below(3)).unwrap()) {
            members.insert((*name).to_owned(), value(dice, &schema["additionalProperties"], strange));
        }
    } else if strange && dice.one_in(3) {
        members.insert("unknown".to_owned(), json!({"a": [1, null]}));
    }
    json!(members)
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| !member.is_null());
            members.map(|(name, member)| (name.clone(), without_nulls(member))).collect()
        }
        other => other.clone(),
    }
}

/// A merge patch for objects of a schema: values for some members, null for others.
fn merge_patch(dice: &mut Dice, schema: &Value) -> Value {
    let mut members = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        match dice.below(4) {
            0 => drop(members.insert(name.clone(), Value::Null)),
            1 => drop(members.insert(name.clone(), value(dice, property, false))),
            2 if property["properties"].is_object() => {
                members.insert(name.clone(), merge_patch(dice, property));
            }
            _ => {}
        }
    }
    json!(members)
}

/// RFC 7386.
fn merged(mut target: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    if !target.is_object() {
        target = json!({});
    }
    let members = target.as_object_mut().unwrap();
    for (name, change) in patch {
        if change.is_null() {
            members.remove(name);
        } else {
            let old = members.remove(name).unwrap_or_default();
            members.insert(name.clone(), merged(old, change));
        }
    }
    target
}

/// The operations that turn `old` into `new`.
fn operations(old: &Value, new: &Value, path: &str, out: &mut Vec<Value>) {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        if old != new {
            out.push(json!({"op": "replace", "path": path, "value": new}));
        }
        return;
    };
    for (name, value) in after {
        let path = format!("{path}/{name}");
        match before.get(name) {
            Some(old) => operations(old, value, &path, out),
            None => out.push(json!({"op": "add", "path": path, "value": value})),
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        out.push(json!({"op": "remove", "path": format!("{path}/{name}")}));
    }
}

/// One random kind on a server.
struct Trial<'a> {
    env: &'a TestEnv,
    dice: Dice,
    schema: Value,
    path: String,
    group: String,
}

impl<'a> Trial<'a> {
    /// Installs the definition of a kind whose `spec` has the schema.
    async fn new(env: &'a TestEnv, group: &str, schema: Value, dice: Dice) -> Self {
        let root = json!({"type": "object", "properties": {"spec": schema}});
        let crd = json!({
            "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                     "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}}]},
        });
        let installed = env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await;
        installed.unwrap_or_else(|err| panic!("{schema}: {err}"));
        let path = format!("/apis/{group}/v1/namespaces/default/things");
        Self { env, dice, schema, path, group: group.to_owned() }
    }

    fn thing(&self, name: &str, spec: &Value) -> Value {
        json!({"apiVersion": format!("{}/v1", self.group), "kind": "Thing", "metadata": {"name": name}, "spec": spec})
    }

    async fn create(&self, name: &str, spec: &Value) -> Value {
        let (code, stored) = call(self.env, Method::POST, &self.path, self.thing(name, spec)).await;
        assert_eq!(code, 201, "{spec}: {stored}");
        stored
    }

    /// A stored object can be stored again: as an update without a change, and as a new object that the
    /// server neither extends nor prunes.
    async fn stores_again(&mut self) {
        let spec = value(&mut self.dice, &self.schema, true);
        let stored = self.create("stored", &spec).await;
        let (code, same) =
            call(self.env, Method::PUT, &format!("{}/stored", self.path), stored.clone()).await;
        assert_eq!((code, &same), (200, &stored));
        let strict = format!("{}?fieldValidation=Strict", self.path);
        let (code, copy) = call(self.env, Method::POST, &strict, self.thing("copy", &stored["spec"])).await;
        assert_eq!((code, &copy["spec"]), (201, &stored["spec"]), "{copy}");
    }

    async fn applies_again(&mut self) {
        let path = format!("{}/applied", self.path);
        for manager in ["one", "two", "one"] {
            // Only the second apply of a null writes it, on kube-apiserver as well.
            let spec = without_nulls(&value(&mut self.dice, &self.schema, false));
            let config = self.thing("applied", &spec);
            let apply = async || {
                let path = format!("{path}?fieldManager={manager}&force=true");
                patch(self.env, &path, "apply-patch+yaml", config.clone()).await
            };
            let (code, first) = apply().await;
            assert!(code == 200 || code == 201, "{config}: {first}");
            assert_eq!(apply().await, (200, first), "{config}");
        }
    }

    async fn patches_end_the_same(&mut self, round: u64) {
        let spec = value(&mut self.dice, &self.schema, false);
        let (one, two) = (format!("merge-{round}"), format!("json-{round}"));
        let stored = self.create(&one, &spec).await["spec"].clone();
        self.create(&two, &spec).await;
        let change = merge_patch(&mut self.dice, &self.schema);
        let mut changes = Vec::new();
        operations(&stored, &merged(stored.clone(), &change), "/spec", &mut changes);
        let by_merge = json!({"spec": change});
        let first = patch(self.env, &format!("{}/{one}", self.path), "merge-patch+json", by_merge).await;
        let second =
            patch(self.env, &format!("{}/{two}", self.path), "json-patch+json", json!(changes)).await;
        assert_eq!(first.0, second.0, "{change}: {} and {}", first.1, second.1);
        assert_eq!(first.1["spec"], second.1["spec"], "{change} and {changes:?} on {stored}");
    }
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("INVARIANT_SEEDS") else { return 0..SEEDS };
    let (from, to) = text.split_once("..").expect("INVARIANT_SEEDS is FROM..TO");
    from.parse().unwrap()..to.parse().unwrap()
}

#[tokio::test]
async fn invariants_of_a_cluster_hold_for_objects_of_any_schema() {
    let env = TestEnv::builder().start().await.unwrap();
    for seed in seeds() {
        // A failing test shows this output.
        println!("INVARIANT_SEEDS={seed}..{}", seed + 1);
        let mut dice = Dice::new(seed);
        let schema = object(&mut dice, 2);
        let mut trial = Trial::new(&env, &format!("g{seed}.example"), schema, dice).await;
        trial.stores_again().await;
        trial.applies_again().await;
        for round in 0..3 {
            trial.patches_end_the_same(round).await;
        }
    }
    env.stop().await;
}

/// A requirement on labels, as text, and what it selects (apimachinery's pkg/labels/selector.go).
fn requirement(dice: &mut Dice) -> (String, impl Fn(&Value) -> bool + use<>) {
    let (key, one, other) = (dice.pick(&NAMES), dice.pick(&WORDS), dice.pick(&WORDS));
    let kind = dice.below(6);
    let text = match kind {
        0 => format!("{key}={one}"),
        1 => format!("{key}!={one}"),
        2 => format!("{key} in ({one},{other})"),
        3 => format!("{key} notin ({one},{other})"),
        4 => key.to_owned(),
        _ => format!("!{key}"),
    };
    let selects = move |labels: &Value| {
        let label = labels[key].as_str();
        match kind {
            0 => label == Some(one),
            1 => label != Some(one),
            2 => label == Some(one) || label == Some(other),
            3 => label != Some(one) && label != Some(other),
            4 => label.is_some(),
            _ => label.is_none(),
        }
    };
    (text, selects)
}

#[tokio::test]
async fn label_selectors_select_the_expected_objects() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/api/v1/namespaces/default/configmaps";
    let mut dice = Dice(42);
    let mut all = Vec::new();
    for i in 0..24 {
        let mut labels = Map::new();
        for _ in 0..dice.below(4) {
            labels.insert(dice.pick(&NAMES).to_owned(), json!(dice.pick(&WORDS)));
        }
        let name = format!("m{i:02}");
        let map = json!({"metadata": {"name": name, "labels": labels}});
        assert_eq!(call(&env, Method::POST, path, map).await.0, 201);
        all.push((name, json!(labels)));
    }
    for _ in 0..200 {
        let requirements: Vec<_> = (0..=dice.below(2)).map(|_| requirement(&mut dice)).collect();
        let texts: Vec<&str> = requirements.iter().map(|(text, _)| text.as_str()).collect();
        let text = texts.join(",");
        let wanted = all.iter().filter(|(_, labels)| requirements.iter().all(|(_, selects)| selects(labels)));
        let wanted: Vec<&str> = wanted.map(|(name, _)| name.as_str()).collect();
        let encoded = text.replace(' ', "%20").replace('!', "%21").replace('=', "%3D");
        let (code, list) =
            send(&env, Method::GET, &format!("{path}?labelSelector={encoded}"), &[], Vec::new()).await;
        let found = list["items"].as_array().into_iter().flatten();
        let found: Vec<&str> = found.map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!((code, found), (200, wanted), "{text}");
    }
    env.stop().await;
}
