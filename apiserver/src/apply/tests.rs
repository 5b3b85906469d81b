use std::sync::Arc;

use kubesmith_apiextensions::structural::Schema;
use serde_json::{Value, json};

use super::last_applied::{LAST_APPLIED, MAX_ANNOTATIONS};
use super::*;

mod properties;
mod scale;

fn schema() -> Schema {
    Schema::enforced(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}, "color": {"type": "string"},
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"],
                "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "atoms": {"type": "array", "items": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "conf": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}}}}}}))
    .unwrap()
}

fn manager(name: &str, second: u32) -> Manager {
    Manager {
        name: name.to_owned(),
        api_version: "g/v1".to_owned(),
        subresource: String::new(),
        time: format!("2026-01-01T00:00:{second:02}Z"),
        ignored: &[],
        only: &[],
    }
}

fn config(spec: Value) -> Value {
    json!({"apiVersion": "g/v1", "kind": "W", "metadata": {"name": "a"}, "spec": spec})
}

fn applied(live: &Value, spec: Value, name: &str, second: u32) -> Value {
    apply(&Typed::custom(&schema()), live, &config(spec), &manager(name, second), false).unwrap().object
}

fn fields(object: &Value) -> Vec<(String, Value)> {
    object["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|e| (e["manager"].as_str().unwrap().to_owned(), e["fieldsV1"].clone()))
        .collect()
}

#[test]
fn apply_creates_and_owns() {
    let object = applied(&Value::Null, json!({"size": 1, "ports": [{"name": "web", "port": 80}]}), "one", 1);
    assert_eq!(
        object["metadata"]["managedFields"],
        json!([{"manager": "one", "operation": "Apply", "apiVersion": "g/v1", "time": "2026-01-01T00:00:01Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {},
                "f:ports": {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:port": {}}}}}}])
    );
}

#[test]
fn lists_merge_by_key_and_sets_by_value() {
    let one = applied(&Value::Null, json!({"ports": [{"name": "web", "port": 80}], "tags": ["x"]}), "one", 1);
    let two = applied(&one, json!({"ports": [{"name": "dns", "port": 53}], "tags": ["y"]}), "two", 2);
    assert_eq!(
        two["spec"],
        json!({"ports": [{"name": "web", "port": 80}, {"name": "dns", "port": 53}], "tags": ["x", "y"]})
    );
    let three = applied(&two, json!({"ports": [{"name": "web", "port": 8080}]}), "one", 3);
    assert_eq!(
        three["spec"],
        json!({"ports": [{"name": "web", "port": 8080}, {"name": "dns", "port": 53}], "tags": ["y"]})
    );
    assert_eq!(
        fields(&three),
        [
            (
                "two".to_owned(),
                json!({"f:spec": {"f:ports": {"k:{\"name\":\"dns\"}": {".": {}, "f:name": {}, "f:port": {}}},
                "f:tags": {"v:\"y\"": {}}}})
            ),
            (
                "one".to_owned(),
                json!({"f:spec": {"f:ports": {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:port": {}}}}})
            ),
        ]
    );
}

#[test]
fn field_is_removed_when_its_only_manager_omits_it() {
    let object = applied(&Value::Null, json!({"size": 1, "color": "red"}), "one", 1);
    let object = applied(&object, json!({"size": 1}), "one", 2);
    assert_eq!(object["spec"], json!({"size": 1}));
    let object = applied(&object, json!({"size": 1}), "two", 3);
    assert_eq!(object["metadata"]["managedFields"][0].get("time"), None, "nothing but ownership changed");
    let object = applied(&object, json!({}), "one", 4);
    assert_eq!(object["spec"], json!({"size": 1}));
    assert_eq!(
        fields(&object),
        [("two".to_owned(), json!({"f:spec": {"f:size": {}}})), ("one".to_owned(), json!({"f:spec": {}}))]
    );
}

#[test]
fn conflict_names_the_owner_unless_apply_is_forced() {
    let typed = Typed::custom(&schema());
    let object = applied(&Value::Null, json!({"size": 1}), "one", 1);
    let error = apply(&typed, &object, &config(json!({"size": 2})), &manager("two", 2), false).unwrap_err();
    assert_eq!(error.to_string(), "Apply failed with 1 conflict: conflict with \"one\": .spec.size");
    assert_eq!(
        error.causes(),
        [
            json!({"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".spec.size"})
        ]
    );
    let forced = apply(&typed, &object, &config(json!({"size": 2})), &manager("two", 2), true).unwrap();
    assert_eq!(fields(&forced.object), [("two".to_owned(), json!({"f:spec": {"f:size": {}}}))]);

    let updated =
        update(&typed, &Value::Null, &config(json!({"size": 1, "color": "red"})), &manager("web", 1));
    let error =
        apply(&typed, &updated, &config(json!({"size": 2, "color": "blue"})), &manager("two", 2), false);
    assert_eq!(
        error.unwrap_err().to_string(),
        "Apply failed with 2 conflicts: conflicts with \"web\" using g/v1:\n- .spec.color\n- .spec.size"
    );
}

#[test]
fn update_owns_the_fields_that_it_changes() {
    let typed = Typed::custom(&schema());
    let created =
        update(&typed, &Value::Null, &config(json!({"size": 1, "atoms": ["a"]})), &manager("web", 1));
    assert_eq!(
        fields(&created),
        [("web".to_owned(), json!({"f:spec": {".": {}, "f:size": {}, "f:atoms": {}}}))]
    );
    let object = applied(&created, json!({"color": "red"}), "one", 2);
    let mut new = object.clone();
    new["spec"]["color"] = json!("blue");
    new["spec"].as_object_mut().unwrap().remove("size");
    let object = update(&typed, &object, &new, &manager("web", 3));
    assert_eq!(
        fields(&object),
        [("web".to_owned(), json!({"f:spec": {".": {}, "f:atoms": {}, "f:color": {}}}))]
    );
}

#[test]
fn endpoint_does_not_own_fields_that_it_ignores() {
    let typed = Typed::custom(&schema());
    let mut object = config(json!({"size": 1}));
    object["status"] = json!({"phase": "X"});
    let ignoring = Manager { ignored: &["status"], ..manager("web", 1) };
    assert_eq!(
        fields(&update(&typed, &Value::Null, &object, &ignoring))[0].1,
        json!({"f:spec": {".": {}, "f:size": {}}})
    );
}

#[test]
fn empty_managed_fields_take_ownership_away() {
    let typed = Typed::custom(&schema());
    let mut live = update(&typed, &Value::Null, &config(json!({"size": 1})), &manager("web", 1));
    live["metadata"]["uid"] = json!("u");
    let mut reset = live.clone();
    reset["metadata"]["managedFields"] = json!([{}]);
    assert_eq!(update(&typed, &live, &reset, &manager("web", 2))["metadata"].get("managedFields"), None);
}

#[test]
fn objects_without_owners_get_one_before_the_first_apply() {
    let live = json!({"apiVersion": "g/v1", "kind": "W", "metadata": {"name": "a", "uid": "u"}, "spec": {"size": 1}});
    let error =
        apply(&Typed::custom(&schema()), &live, &config(json!({"size": 2})), &manager("one", 1), false);
    assert_eq!(
        error.unwrap_err().to_string(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using g/v1: .spec.size"
    );
}

#[test]
fn apply_request_is_validated() {
    let typed = Typed::custom(&schema());
    let mut wrong = config(json!({}));
    wrong["apiVersion"] = json!("g/v2");
    let error = apply(&typed, &Value::Null, &wrong, &manager("one", 1), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Incorrect version specified in apply patch. Specified patch version: g/v2, expected: g/v1"
    );
    let mut owned = config(json!({}));
    owned["metadata"]["managedFields"] = json!([]);
    let error = apply(&typed, &Value::Null, &owned, &manager("one", 1), false).unwrap_err();
    assert_eq!(error.to_string(), "metadata.managedFields must be nil");
    let twice = config(json!({"tags": ["x", "x"]}));
    let error = apply(&typed, &Value::Null, &twice, &manager("one", 1), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to create typed patch object (/a; g/v1, Kind=W): .spec.tags: duplicate entries for key [=\"x\"]"
    );
}

#[test]
fn built_in_kinds_know_their_lists_and_structures() {
    let typed = Typed::builtin("", "v1", "Service");
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {
        "ports": [{"port": 80, "protocol": "TCP"}], "selector": {"a": "b"}, "type": "ClusterIP"}, "status": {"loadBalancer": {}}});
    let web = Manager { api_version: "v1".to_owned(), ..manager("web", 1) };
    let created = update(&typed, &Value::Null, &service, &web);
    assert_eq!(
        fields(&created)[0].1,
        json!({"f:spec": {"f:ports": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}}},
            "f:selector": {}, "f:type": {}}})
    );
    let config = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80, "name": "http"}]}});
    let one = Manager { api_version: "v1".to_owned(), ..manager("one", 2) };
    let object = apply(&typed, &created, &config, &one, false).unwrap().object;
    assert_eq!(object["spec"]["ports"], json!([{"port": 80, "protocol": "TCP", "name": "http"}]));
}

/// `.spec.size` in the version of the tests, somewhere else in another, and no scale in a third.
#[test]
fn endpoint_of_some_fields_owns_only_those_fields() {
    let typed = Typed::custom(&schema());
    let part = Manager { only: &[&["spec", "ports", "*", "port"]], ..manager("me", 2) };
    let object = applied(&Value::Null, json!({"size": 1, "ports": [{"name": "web", "port": 80}]}), "one", 1);
    let mut new = object.clone();
    new["spec"] = json!({"size": 2, "ports": [{"name": "web", "port": 81}]});
    let mine = json!({"f:spec": {"f:ports": {"k:{\"name\":\"web\"}": {"f:port": {}}}}});
    let updated = update(&typed, &object, &new, &part);
    assert_eq!(fields(&updated)[1], ("me".to_owned(), mine.clone()));
    assert!(fields(&updated)[0].1["f:spec"]["f:size"].is_object(), "what does not count is not taken");
    let wanted = config(json!({"size": 3, "ports": [{"name": "web", "port": 82}]}));
    let refused = apply(&typed, &object, &wanted, &part, false).unwrap_err();
    let conflict = "Apply failed with 1 conflict: conflict with \"one\": .spec.ports[name=\"web\"].port";
    assert_eq!(refused.to_string(), conflict);
    let forced = apply(&typed, &object, &wanted, &part, true).unwrap().object;
    assert_eq!(fields(&forced)[1], ("me".to_owned(), mine));
}

#[test]
fn oldest_update_managers_are_merged_beyond_ten() {
    let typed = Typed::custom(&schema());
    let mut object = config(json!({"free": {}}));
    for i in 0..15 {
        let mut new = object.clone();
        new["spec"]["free"][format!("k{i:02}")] = json!(i);
        let live = if i == 0 { Value::Null } else { object };
        object = update(&typed, &live, &new, &manager(&format!("m{i:02}"), i));
    }
    let owners = fields(&object);
    assert_eq!(owners.len(), 10);
    assert_eq!(owners[0].0, "ancient-changes");
}

#[test]
fn null_keeps_unstructured_value_but_owns_it_on_apply() {
    let typed = Typed::custom(&schema());
    let object = applied(&Value::Null, json!({"free": {"inner": {"x": 1}}}), "one", 1);
    let nothing = config(json!({"free": {"inner": null}}));
    let kept = apply(&typed, &object, &nothing, &manager("two", 2), false).unwrap().object;
    assert_eq!(kept["spec"], json!({"free": {"inner": {"x": 1}}}));
    assert_eq!(
        fields(&kept)[0],
        ("two".to_owned(), json!({"f:spec": {"f:free": {"f:inner": {}}}})),
        "it is owned all the same"
    );
    let mut new = object.clone();
    new["spec"]["free"]["inner"] = Value::Null;
    let updated = update(&typed, &object, &new, &manager("web", 2));
    assert_eq!(fields(&updated), [("one".to_owned(), json!({"f:spec": {"f:free": {"f:inner": {}}}}))]);
}

#[test]
fn configuration_is_refused_when_it_does_not_fit_its_schema() {
    let typed = Typed::custom(&schema());
    let refused = |spec: Value| {
        let error = apply(&typed, &Value::Null, &config(spec), &manager("one", 1), false).unwrap_err();
        let text = error.to_string();
        let about = "failed to create typed patch object (/a; g/v1, Kind=W): ";
        text.strip_prefix(about).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert_eq!(refused(json!({"sise": 1})), ".spec.sise: field not declared in schema");
    assert_eq!(refused(json!({"size": "1"})), ".spec.size: expected numeric (int or float), got string");
    assert_eq!(
        refused(json!({"color": 1.5, "tags": {"x": [1, null]}, "ports": [{"name": "a", "port": {}}]})),
        "errors:\n  .spec.color: expected string, got &value.valueUnstructured{Value:1.5}\n  \
         .spec.ports[name=\"a\"].port: expected numeric (int or float), got map[string]interface {}\n  \
         .spec.tags: expected list, got &{map[x:[1 <nil>]]}"
    );
    assert_eq!(refused(json!({"conf": ["a", true]})), ".spec.conf: expected map, got &{[a true]}");
    assert_eq!(
        refused(json!({"atoms": [["a"]]})),
        ".spec.atoms[0]: expected string, got &value.valueUnstructured{Value:[]interface {}{\"a\"}}"
    );
    let mut wrong = config(json!({}));
    wrong["metadata"]["labels"] = json!({"x": true});
    wrong["metadata"]["ownerReferences"] = json!([{"uid": "u", "nme": "n"}]);
    let error = apply(&typed, &Value::Null, &wrong, &manager("one", 1), false).unwrap_err().to_string();
    let faults = "errors:\n  .metadata.labels.x: expected string, got &value.valueUnstructured{Value:true}\n  \
                  .metadata.ownerReferences[uid=\"u\"].nme: field not declared in schema";
    assert!(error.ends_with(faults), "{error}");
    for fine in [json!({"size": 1.5, "color": null, "free": {"x": [1]}}), json!({"conf": {"x": "y"}})] {
        assert!(apply(&typed, &Value::Null, &config(fine), &manager("one", 1), false).is_ok());
    }
    let typed = typed.keeping_unknown_fields(true);
    assert!(apply(&typed, &Value::Null, &config(json!({"sise": 1})), &manager("one", 1), false).is_ok());
}

#[test]
fn object_that_does_not_fit_its_schema_loses_managed_fields() {
    let typed = Typed::custom(&schema());
    let mut live = applied(&Value::Null, json!({"size": 1}), "one", 1);
    live["spec"]["color"] = json!(1);
    let error = |live: &Value| {
        apply(&typed, live, &config(json!({"size": 1})), &manager("two", 2), false).unwrap_err().to_string()
    };
    assert_eq!(
        error(&live),
        "failed to create typed live object (/a; g/v1, Kind=W): .spec.color: expected string, got \
         &value.valueUnstructured{Value:1}"
    );
    let mut new = live.clone();
    new["spec"]["color"] = json!("red");
    assert_eq!(update(&typed, &live, &new, &manager("web", 2))["metadata"].get("managedFields"), None);
    live["metadata"].as_object_mut().unwrap().remove("managedFields");
    assert_eq!(
        error(&live),
        "failed to create manager for existing fields: failed to convert new object (/a; g/v1, Kind=W) to smd typed: \
         .spec.color: expected string, got &value.valueUnstructured{Value:1}"
    );
}

#[test]
fn conflicts_with_a_subresource_come_first() {
    let typed = Typed::custom(&schema());
    let status = Manager { subresource: "status".to_owned(), ..manager("web", 1) };
    let object = update(&typed, &Value::Null, &config(json!({"size": 1})), &status);
    let mut new = object.clone();
    new["spec"]["color"] = json!("red");
    let object = update(&typed, &object, &new, &manager("web", 2));
    let wanted = config(json!({"size": 2, "color": "blue"}));
    assert_eq!(
        apply(&typed, &object, &wanted, &manager("one", 3), false).unwrap_err().to_string(),
        "Apply failed with 2 conflicts: conflicts with \"web\" with subresource \"status\" using g/v1:\n- .spec.size\n\
         conflicts with \"web\" using g/v1:\n- .spec.color"
    );
}

/// The annotation of client-side apply with the last configuration.
fn client_side(spec: Value, last: &str) -> Value {
    let mut object = config(spec);
    object["metadata"]["annotations"] = json!({LAST_APPLIED: last});
    update(&Typed::custom(&schema()), &Value::Null, &object, &manager("kubectl-client-side-apply", 1))
}

#[test]
fn client_side_apply_migrates_without_conflict_when_unchanged_since() {
    let typed = Typed::custom(&schema());
    let last = config(json!({"size": 1, "color": "red"}));
    let try_with = |last: &Value, live: Value| {
        let wanted = config(json!({"size": 2, "color": "blue"}));
        let live = client_side(live, &last.to_string());
        apply(&typed, &live, &wanted, &manager("kubectl", 2), false)
    };
    let object = try_with(&last, json!({"size": 1, "color": "red"})).unwrap().object;
    assert_eq!(object["spec"], json!({"size": 2, "color": "blue"}));
    let conflict =
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using g/v1: .spec.color";
    let error = try_with(&last, json!({"size": 1, "color": "green"})).unwrap_err();
    assert_eq!(error.to_string(), conflict, "only what changed since is left");
    let mut older = last.clone();
    older["apiVersion"] = json!("g/v0");
    for unusable in [older, json!({"spec": last["spec"]}), config(json!({"size": "1", "color": "red"}))] {
        let error = try_with(&unusable, json!({"size": 1, "color": "red"})).unwrap_err();
        assert!(error.to_string().starts_with("Apply failed with 2 conflicts"), "{error}");
    }
}

#[test]
fn last_applied_annotation_is_updated_when_present() {
    let typed = Typed::custom(&schema());
    let annotation = |last: &str, spec: Value| {
        let live = client_side(json!({"size": 1}), last);
        let object = apply(&typed, &live, &config(spec), &manager("kubectl", 2), true).unwrap().object;
        object["metadata"]["annotations"].get(LAST_APPLIED).cloned()
    };
    let text = format!("{}\n", config(json!({"size": 2})));
    assert_eq!(annotation("{", json!({"size": 2})), Some(json!(text)), "whatever it was before");
    assert_eq!(annotation("", json!({"size": 2})), Some(json!("")));
    let long = "x".repeat(MAX_ANNOTATIONS);
    assert_eq!(annotation("{", json!({"color": long})), None, "there is no room for it");
}

#[test]
fn fields_of_value_that_became_atomic_are_owned_as_one_value() {
    let granular = Typed::custom(&schema());
    let object = json!({"ports": [{"name": "web", "port": 80}], "tags": ["x"], "free": {"x": {"y": 1}}});
    let live =
        apply(&granular, &Value::Null, &config(object.clone()), &manager("one", 1), false).unwrap().object;
    let mut whole = schema();
    let spec = Arc::make_mut(whole.properties.get_mut("spec").unwrap());
    for list in ["ports", "tags"] {
        Arc::make_mut(spec.properties.get_mut(list).unwrap()).list_type = None;
    }
    Arc::make_mut(spec.properties.get_mut("free").unwrap()).map_type = Some("atomic".to_owned());
    let whole = Typed::custom(&whole);
    let after = json!({"f:spec": {"f:ports": {}, "f:tags": {}, "f:free": {"f:x": {".": {}, "f:y": {}}}}});
    let updated = update(&whole, &live, &live.clone(), &manager("web", 2));
    assert_eq!(fields(&updated), [("one".to_owned(), after)], "maps of anything are left alone");
    let mut other = object;
    other["tags"] = json!(["y"]);
    let error = apply(&whole, &live, &config(other), &manager("two", 2), false).unwrap_err();
    assert_eq!(error.to_string(), "Apply failed with 1 conflict: conflict with \"one\": .spec.tags");
}
