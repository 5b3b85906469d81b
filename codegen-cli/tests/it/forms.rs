//! The schemas of testdata/forms accept the values that serde writes, and refuse those that serde refuses, as
//! far as a structural schema can. An API server keeps every value of these types.

use std::fmt::Debug;
use std::path::Path;
use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};
use kubesmith_apiextensions::structural::{self, Schema};
use kubesmith_forms::{enums, flat, generic, known, plain};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner, contextualize_config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support;

/// The CRD of the kind that has a field of every form.
fn crd() -> &'static Value {
    static CRD: OnceLock<Result<Value, String>> = OnceLock::new();
    let crd = CRD.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/forms");
        let generated = support::crds(folder, None, false);
        let yaml = support::crd_texts(&generated).into_values().next();
        Ok(serde_yaml::from_str(&yaml.ok_or_else(|| support::short(&generated))?).unwrap())
    });
    crd.as_ref().unwrap()
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA
        .get_or_init(|| Schema::enforced(&crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]).unwrap())
}

/// The value of a field after an API server has read it, and the server's errors.
fn stored(field: &str, value: &Value) -> (Value, Vec<String>) {
    let mut object = json!({"apiVersion": "forms.example.com/v1", "kind": "Forms", "metadata": {"name": "x"},
        "spec": {field: value}});
    structural::prune(schema(), &mut object);
    structural::apply_defaults(schema(), &mut object);
    let causes = structural::validate(schema(), &object);
    (object["spec"][field].take(), causes.iter().map(ToString::to_string).collect())
}

/// Forms that a schema cannot describe completely: the items of a tuple share one schema (`lists`,
/// `newtypes`), and no schema describes the values beside named fields (`maps`, `tagged_deep`, `with_map`) or
/// the keys of a map (`keys`).
const LOOSE: &[&str] = &["keys", "lists", "maps", "newtypes", "tagged_deep", "with_map"];

fn check<T>(field: &str)
where
    T: for<'a> Arbitrary<'a> + Serialize + DeserializeOwned + Debug,
{
    crd();
    let bytes = proptest::collection::vec(any::<u8>(), 0..256);
    let config = Config { max_shrink_iters: 500, failure_persistence: None, ..Config::with_cases(200) };
    let config = contextualize_config(config);
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&(bytes, any::<u64>()), |(bytes, change)| {
        let Ok(value) = T::arbitrary(&mut Unstructured::new(&bytes)) else { return Ok(()) };
        // A map that is flattened may repeat a field.
        let Ok(json) = serde_json::to_value(&value) else { return Ok(()) };
        let (kept, causes) = stored(field, &json);
        prop_assert!(causes.is_empty(), "{} is refused: {:?}", json, causes);
        let back: T = serde_json::from_value(kept.clone())
            .map_err(|error| TestCaseError::fail(format!("{json} became {kept}: {error}")))?;
        prop_assert_eq!(&serde_json::to_value(&back).unwrap(), &json);
        let changed = mutated(&json, change);
        let (kept, causes) = stored(field, &changed);
        let read = serde_json::from_value::<T>(kept.clone());
        if let (Err(error), true, false) = (read, causes.is_empty(), LOOSE.contains(&field)) {
            return Err(TestCaseError::fail(format!("{changed} is taken as {kept}, but {error}")));
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!(
            "{field}: {error}\n{:#}",
            crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
                [field]
        );
    }
}

/// The value with one part of it changed.
fn mutated(value: &Value, change: u64) -> Value {
    let mut out = value.clone();
    let parts = count(&out);
    let at = usize::try_from(change).unwrap_or_default() % parts;
    let mut seen = 0;
    visit(&mut out, &mut |part| {
        if seen == at {
            mutate(part, change / parts as u64);
        }
        seen += 1;
    });
    out
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn visit(value: &mut Value, f: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, f)),
        Value::Object(members) => members.values_mut().for_each(|member| visit(member, f)),
        _ => {}
    }
    f(value);
}

fn mutate(value: &mut Value, how: u64) {
    let others =
        [json!(7), json!("other"), json!(true), json!([]), json!({}), json!([3]), json!({"unknown": 1})];
    let other = others[usize::try_from(how / 5).unwrap_or_default() % others.len()].clone();
    match (how % 5, value) {
        (0, Value::Object(members)) if !members.is_empty() => {
            let at = usize::try_from(how / 5).unwrap_or_default() % members.len();
            let name = members.keys().nth(at).cloned().unwrap_or_default();
            members.remove(&name);
        }
        (1, Value::Object(members)) => {
            members.insert("unknown".to_string(), other);
        }
        (2, Value::Array(items)) => items.push(other),
        (3, Value::Array(items)) => drop(items.pop()),
        (_, value) => *value = other,
    }
}

#[test]
fn crd_of_all_forms_is_valid() {
    let mut crd = crd().clone();
    crd["status"] = json!({});
    let causes: Vec<String> = structural::validate_crd(&crd, None).iter().map(ToString::to_string).collect();
    assert_eq!(causes, [""; 0]);
}

#[test]
fn schemas_of_all_forms_equal_the_snapshot() {
    let properties =
        &crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    insta::assert_yaml_snapshot!(properties);
}

macro_rules! tests {
    ($($field:ident: $module:ident::$ty:ident,)*) => {
        $(
            #[test]
            fn $field() {
                check::<$module::$ty>(stringify!($field));
            }
        )*
    };
}
kubesmith_forms::forms!(tests);
