use serde_json::{Value as Json, json};

use super::*;

fn validator(spec: Json) -> Validator {
    Validator::new(&Schema::enforced(&spec).unwrap(), false).unwrap()
}

fn texts(causes: &[Cause]) -> Vec<String> {
    causes.iter().map(Cause::to_string).collect()
}

#[test]
fn failed_rules_report_causes() {
    let rules = validator(json!({"type": "object", "properties": {"spec": {"type": "object",
        "x-kubernetes-validations": [{"rule": "self.min <= self.max", "message": "min must not exceed max",
            "fieldPath": ".min", "reason": "FieldValueForbidden"}],
        "properties": {"min": {"type": "integer"}, "max": {"type": "integer"},
            "name": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "name is immutable"}]},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [
                {"rule": "self.all(t, t.startsWith('t-'))", "messageExpression": "'first tag: ' + self[0]"}]},
            "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]}}}}}));
    let check = |spec: Json, old: Option<Json>| {
        let old = old.map(|old| json!({"spec": old}));
        texts(&rules.validate(&json!({"spec": spec}), old.as_ref()).causes)
    };
    let none = Vec::<String>::new();
    assert_eq!(check(json!({"min": 1, "max": 2, "name": "n", "tags": ["t-1"]}), None), none);
    assert_eq!(check(json!({"min": 3, "max": 2}), None), ["spec.min: Forbidden: min must not exceed max"]);
    assert_eq!(
        check(json!({"min": 1, "max": 2, "tags": ["x"]}), None),
        ["spec.tags: Invalid value: first tag: x"]
    );
    assert_eq!(
        check(json!({"min": 1, "max": 2, "name": "b"}), Some(json!({"min": 1, "max": 2, "name": "a"}))),
        ["spec.name: Invalid value: \"b\": name is immutable"]
    );
    assert_eq!(
        check(json!({"min": 1, "max": 2, "n": 0}), None),
        ["spec.n: Invalid value: 0: failed rule: self > 0"]
    );
    assert_eq!(
        check(json!({"min": 1, "max": 3, "n": 0}), Some(json!({"min": 1, "max": 2, "n": 0}))),
        none,
        "an unchanged value is let pass"
    );
    assert_eq!(
        check(json!({"min": 1}), None),
        ["spec: Invalid value: \"object\": no such key: max evaluating rule: min must not exceed max"]
    );
}

#[test]
fn old_values_may_be_optional_and_keyed() {
    let rules = validator(json!({"type": "object", "properties": {
        "a": {"type": "string", "x-kubernetes-validations": [
            {"rule": "oldSelf.hasValue() || self == 'first'", "optionalOldSelf": true}]},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"},
                "v": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}}}}}}));
    assert_eq!(texts(&rules.validate(&json!({"a": "x"}), None).causes).len(), 1);
    assert_eq!(texts(&rules.validate(&json!({"a": "first"}), None).causes).len(), 0);
    assert_eq!(texts(&rules.validate(&json!({"a": "x"}), Some(&json!({"a": "y"}))).causes).len(), 0);
    let old = json!({"l": [{"k": "a", "v": 5}, {"k": "b", "v": 1}]});
    let new = json!({"l": [{"k": "b", "v": 2}, {"k": "a", "v": 4}, {"k": "c", "v": 0}]});
    assert_eq!(
        texts(&rules.validate(&new, Some(&old)).causes),
        ["l[1].v: Invalid value: 4: failed rule: self >= oldSelf"]
    );
}

#[test]
fn broken_rule_of_an_unchanged_part_is_a_warning() {
    let rules = validator(json!({"type": "object", "properties": {
        "a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'x'"}]},
        "b": {"type": "string"},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "x-kubernetes-validations": [{"rule": "size(self) < 2"}],
            "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-validations": [{"rule": "false"}]}}}));
    let (one, two) = (json!({"k": "1"}), json!({"k": "2"}));
    let old = json!({"a": "y", "l": [one, two], "any": {}});
    let found = rules.validate(&json!({"a": "y", "b": "z", "l": [two, one], "any": {}}), Some(&old));
    let warnings = [
        "a: Invalid value: \"y\": failed rule: self == 'x'",
        "any: Invalid value: failed rule: false",
        "l: Invalid value: failed rule: size(self) < 2",
    ];
    assert_eq!(
        (texts(&found.causes), texts(&found.warnings)),
        (Vec::new(), warnings.map(str::to_owned).to_vec())
    );
    // A field without a schema, and an item without its key, cannot be compared.
    let old = json!({"a": "y", "l": [{}, two], "any": {"z": 1}});
    let found = rules.validate(&old, Some(&old));
    assert_eq!(
        (texts(&found.causes), texts(&found.warnings)),
        (warnings[1..].iter().map(ToString::to_string).collect(), vec![warnings[0].to_owned()])
    );
}
