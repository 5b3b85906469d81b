//! The table of `testdata/diff/cases.yaml`.

use std::collections::BTreeSet;
use std::fs;

use kubesmith::diff::{Certainty, Change, ChangeCode, Class, Definitions, RULES, Ratchets, compare};
use kubesmith_apiextensions::structural::{Checker, apply_defaults, prune, validate_crd};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::set;
use crate::support::testdata;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    a: Option<[Value; 2]>,
    spec: Option<[Map<String, Value>; 2]>,
    required: Option<[Vec<String>; 2]>,
    versions: Option<[Vec<Map<String, Value>>; 2]>,
    definition: Option<[Value; 2]>,
    expect: Vec<String>,
    #[serde(default, deserialize_with = "Deserialize::deserialize")]
    breaks: Value,
    touched: Option<Value>,
    across: Option<Across>,
    #[serde(default)]
    keeps: Vec<Value>,
    #[serde(default)]
    refused: bool,
}

/// A spec that is valid in one version, and refused in another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Across {
    from: String,
    to: String,
    spec: Value,
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        merge(&mut target[key], value);
    }
}

impl Case {
    /// The definition of a side, if it has one.
    fn side(&self, side: usize) -> Option<Value> {
        let patch = self.definition.as_ref().map_or_else(|| json!({}), |patches| patches[side].clone());
        if patch.is_null() {
            return None;
        }
        let versions = self.versions.as_ref().map_or_else(
            || vec![Map::from_iter([("name".to_owned(), json!("v1")), ("storage".to_owned(), json!(true))])],
            |versions| versions[side].clone(),
        );
        let versions: Vec<Value> = versions.into_iter().map(|version| self.version(version, side)).collect();
        let mut object = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"}, "versions": versions},
        });
        merge(&mut object, &patch);
        Some(object)
    }

    fn version(&self, mut version: Map<String, Value>, side: usize) -> Value {
        let mut properties = json!({"a": self.a.as_ref().map_or_else(|| json!({"type": "string"}), |a| a[side].clone()),
                "other": {"type": "string"}});
        if let Some(spec) = &self.spec {
            merge(&mut properties, &Value::Object(spec[side].clone()));
        }
        if let Some(fields) = version.remove("fields") {
            merge(&mut properties, &fields);
        }
        let mut spec = json!({"type": "object", "properties": properties});
        if let Some(required) = &self.required {
            spec["required"] = json!(required[side]);
        }
        let mut out = json!({"served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object",
            "properties": {"spec": spec, "status": {"type": "object"}}}}});
        merge(&mut out, &Value::Object(version));
        out
    }

    fn definitions(&self, side: usize) -> Definitions {
        self.side(side).map_or_else(Definitions::new, |object| set(&object))
    }

    fn changes(&self) -> Vec<Change> {
        compare(&self.definitions(0), &self.definitions(1))
    }

    /// The validator for objects of a side.
    fn checker(&self, side: usize) -> Checker {
        let definitions = self.definitions(side);
        Checker::from_schema(definitions.values().next().unwrap().versions[0].schema.clone())
    }
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(testdata().join("diff/cases.yaml")).unwrap();
    serde_yaml::from_str(&text).unwrap()
}

fn object(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec})
}

/// The object as a server reads it, and its errors.
fn read(checker: &Checker, object: &Value) -> (Value, Vec<String>) {
    let mut out = object.clone();
    prune(checker.schema(), &mut out);
    apply_defaults(checker.schema(), &mut out);
    let causes = checker.create(&out).iter().map(ToString::to_string).collect();
    (out, causes)
}

fn shown(change: &Change, ratcheting: bool) -> String {
    format!("{} {} {}", change.class(ratcheting).name(), change.code, change.path)
}

#[test]
fn changes_equal_the_expected_ones_of_each_case() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut codes = BTreeSet::new();
    for case in &cases {
        let changes = case.changes();
        let found: Vec<String> = changes.iter().map(|change| shown(change, false)).collect();
        let (mut found, mut expected) = (found, case.expect.clone());
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{}: {changes:#?}", case.name);
        codes.extend(changes.iter().map(|change| change.code));
    }
    let without: Vec<_> =
        RULES.iter().filter(|rule| !codes.contains(&rule.code)).map(|rule| rule.name).collect();
    assert!(without.is_empty(), "without a case: {without:?}");
}

#[test]
fn verdicts_agree_with_the_rules_of_a_server() {
    for case in cases().iter().filter(|case| !case.breaks.is_null() || !case.keeps.is_empty()) {
        let (old, new) = (case.checker(0), case.checker(1));
        let is_stored = case.changes().iter().any(|change| change.class(false) == Class::Stored);
        assert_eq!(
            is_stored,
            !case.breaks.is_null(),
            "{}: an object that breaks belongs to a breaking change",
            case.name
        );
        for spec in &case.keeps {
            let object = object(spec);
            assert_eq!(read(&old, &object), (object.clone(), vec![]), "{}: is no valid object", case.name);
            assert_eq!(read(&new, &object), (object, vec![]), "{}", case.name);
        }
        if is_stored {
            let object = object(&case.breaks);
            let (stored, causes) = read(&old, &object);
            assert_eq!((&stored, &causes), (&object, &vec![]), "{}: is no valid object", case.name);
            let (after, causes) = read(&new, &object);
            assert!(after != object || !causes.is_empty(), "{}: breaks nothing", case.name);
        }
    }
}

/// Without a conversion, an object is read with its stored version, and validated with the version of the
/// write.
#[test]
fn version_conflict_is_reported_exactly_when_a_version_refuses() {
    use ChangeCode::{VersionsConflict, VersionsTightened};
    for case in cases() {
        let changes = case.changes();
        let is_refused = |change: &Change| matches!(change.code, VersionsConflict | VersionsTightened);
        assert_eq!(changes.iter().any(is_refused), case.across.is_some(), "{}", case.name);
        let Some(across) = &case.across else { continue };
        let checker = |side: usize, version: &str| {
            let definition = case.definitions(side).into_values().next().unwrap();
            Checker::from_schema(definition.version(version).unwrap().schema.clone())
        };
        let object = object(&across.spec);
        let stored = read(&checker(0, &across.from), &object);
        assert_eq!(stored, (object, vec![]), "{}: is no valid object", case.name);
        assert!(!read(&checker(1, &across.to), &stored.0).1.is_empty(), "{}: is not refused", case.name);
    }
}

/// The errors of an API server since 1.33 for an update of an object as it was read.
fn update(checker: &Checker, stored: &Value, spec: &Value) -> Vec<String> {
    let (old, _) = read(checker, stored);
    let mut updated = old.clone();
    updated["spec"] = spec.clone();
    updated["metadata"]["labels"] = json!({"touched": "true"});
    checker.update(&updated, &old).iter().map(ToString::to_string).collect()
}

/// API servers since 1.33 tolerate unchanged invalid values exactly where the table says so, and refuse them
/// after a change beside them where the table says so.
#[test]
fn tolerated_changes_are_accepted_by_an_update() {
    let (mut tolerated, mut with_all_around) = (0, 0);
    for case in cases().iter().filter(|case| !case.breaks.is_null()) {
        let changes = case.changes();
        let (new, stored) = (case.checker(1), object(&case.breaks));
        let breaks: Vec<&Change> =
            changes.iter().filter(|change| change.code.rule().class == Class::Stored).collect();
        if let Some(spec) = &case.touched {
            assert!(breaks.iter().any(|change| change.class(true) == Class::Stored), "{}", case.name);
            assert!(!update(&new, &stored, spec).is_empty(), "{}", case.name);
        } else {
            let is_alone = |change: &&Change| change.ratchets != Ratchets::WithAllAround;
            assert!(breaks.iter().all(is_alone), "{}: `touched` is missing", case.name);
        }
        if breaks.iter().all(|change| change.ratchets != Ratchets::Never) {
            let faults = update(&new, &stored, &read(&new, &stored).0["spec"]);
            assert!(faults.is_empty(), "{}: {faults:?}", case.name);
            with_all_around += usize::from(case.touched.is_some());
        }
        if breaks.iter().all(|change| change.ratchets == Ratchets::Alone) {
            let mut spec = case.breaks.clone();
            spec["other"] = "touched".into();
            let faults = update(&new, &stored, &spec);
            assert!(faults.is_empty(), "{}: {faults:?}", case.name);
            tolerated += 1;
        }
    }
    assert!(tolerated > 20 && with_all_around > 5, "{tolerated} {with_all_around}");
}

/// The server refuses exactly the reported updates.
#[test]
fn refused_update_is_reported_exactly_when_a_server_refuses() {
    for case in cases() {
        let (Some(mut old), Some(mut new)) = (case.side(0), case.side(1)) else { continue };
        for object in [&mut old, &mut new] {
            let storage =
                object["spec"]["versions"].as_array().unwrap().iter().find(|v| v["storage"] == true).unwrap();
            let mut stored = BTreeSet::from([storage["name"].as_str().unwrap().to_owned()]);
            if let Some(said) = object.pointer("/status/storedVersions").and_then(Value::as_array) {
                stored.extend(said.iter().map(|name| name.as_str().unwrap().to_owned()));
            }
            let (kind, names) =
                (object["spec"]["names"]["kind"].as_str().unwrap().to_owned(), &mut object["spec"]["names"]);
            for (key, value) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
                if names.get(key).is_none() {
                    names[key] = value.into();
                }
            }
            object["status"] =
                json!({"storedVersions": stored, "conditions": [{"type": "Established", "status": "True"}]});
        }
        let before = old["status"]["storedVersions"].as_array().unwrap().clone();
        let after = new["status"]["storedVersions"].as_array().unwrap().clone();
        let all: BTreeSet<String> =
            before.iter().chain(&after).map(|name| name.as_str().unwrap().to_owned()).collect();
        new["status"]["storedVersions"] = json!(all);
        assert_eq!(validate_crd(&old, Some(&old)), [], "{}", case.name);
        let other = old["metadata"]["name"] != new["metadata"]["name"];
        let refused = !other && !validate_crd(&new, Some(&old)).is_empty();
        let changes = case.changes();
        let said = changes.iter().any(|change| change.code.rule().certainty == Certainty::Refused);
        assert_eq!(said, refused, "{}", case.name);
        assert!(said || !case.refused, "{}", case.name);
    }
}

#[test]
fn equal_definitions_have_no_changes() {
    for case in cases() {
        for side in [0, 1] {
            let definitions = case.definitions(side);
            let changes = compare(&definitions, &definitions);
            let is_valid = changes.iter().all(|change| change.code == ChangeCode::UpdateRefused);
            assert!(is_valid, "{}: {changes:#?}", case.name);
        }
    }
}
