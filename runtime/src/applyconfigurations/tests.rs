use k8s_openapi::api::core::v1::Service;
use kubesmith_apimachinery::fieldpath::Set;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ExtractError, extract_value};

fn service(managed: Value) -> Service {
    let mut service = json!({
        "metadata": {
            "name": "web", "namespace": "shop", "labels": {"a": "1", "b": "2"}, "finalizers": ["x/y", "x/z"],
        },
        "spec": {
            "selector": {"app": "web"},
            "sessionAffinity": "None",
            "ports": [
                {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080},
                {"name": "dns", "port": 53, "protocol": "UDP"},
            ],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
    });
    service["metadata"]["managedFields"] = managed;
    serde_json::from_value(service).unwrap()
}

fn entry(manager: &str, operation: &str, subresource: &str, fields: Value) -> Value {
    let mut entry = json!({"manager": manager, "operation": operation, "subresource": subresource, "apiVersion": "v1",
        "fieldsType": "FieldsV1"});
    entry["fieldsV1"] = fields;
    entry
}

fn extracted(managed: Value, manager: &str, subresource: &str) -> Value {
    extract_value(&service(managed), manager, subresource).unwrap()
}

#[test]
fn only_fields_of_the_managers_apply_are_extracted() {
    let managed = json!([
        entry("me", "Update", "", json!({"f:spec": {"f:sessionAffinity": {}}})),
        entry("other", "Apply", "", json!({"f:metadata": {"f:labels": {"f:b": {}}}})),
        entry("me", "Apply", "status", json!({"f:status": {"f:loadBalancer": {"f:ingress": {}}}})),
        entry(
            "me",
            "Apply",
            "",
            json!({
                "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {"v:\"x/z\"": {}}},
                "f:spec": {
                    "f:selector": {},
                    "f:ports": {"k:{\"port\":53,\"protocol\":\"UDP\"}": {".": {}, "f:name": {}}},
                },
            })
        ),
    ]);
    assert_eq!(
        extracted(managed.clone(), "me", ""),
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "1"}, "finalizers": ["x/z"]},
            "spec": {"selector": {"app": "web"}, "ports": [{"name": "dns", "port": 53, "protocol": "UDP"}]},
        })
    );
    assert_eq!(
        extracted(managed, "me", "status")["status"],
        json!({"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}})
    );
}

#[test]
fn manager_without_apply_gets_only_the_name() {
    let none =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}});
    let by_update = json!([entry("me", "Update", "", json!({"f:spec": {}}))]);
    assert_eq!(extracted(by_update, "me", ""), none);
    let without_fields = json!([{"manager": "me", "operation": "Apply"}]);
    assert_eq!(extracted(without_fields, "me", ""), none);
}

#[test]
fn object_without_managed_fields_is_refused() {
    for managed in [json!([]), json!(null)] {
        let error = extract_value(&service(managed), "me", "").unwrap_err();
        assert!(matches!(error, ExtractError::NoManagedFields), "{error:?}");
        assert!(error.to_string().contains("read the object with a client"), "{error}");
    }
}

#[test]
fn map_applied_empty_is_empty_when_others_filled_it() {
    let managed = json!([
        entry("me", "Apply", "", json!({"f:metadata": {"f:labels": {}}, "f:spec": {"f:ports": {}}})),
        entry(
            "other",
            "Update",
            "",
            json!({
                "f:metadata": {"f:labels": {".": {}, "f:a": {}, "f:b": {}}},
                "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}}}},
            })
        ),
    ]);
    let value = extracted(managed, "me", "");
    assert_eq!(value["metadata"]["labels"], json!({}));
    assert_eq!(value["spec"]["ports"], json!([]));
}

#[test]
fn items_match_by_index_and_keys_by_number_value() {
    let managed = json!([entry(
        "me",
        "Apply",
        "",
        json!({
            "f:metadata": {"f:finalizers": {"i:0": {}, "i:7": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80.0}": {"f:name": {}}, "k:{\"port\":1}": {"f:name": {}}}},
            "x:unknown": {"f:spec": {}},
        })
    )]);
    let value = extracted(managed, "me", "");
    assert_eq!(value["metadata"]["finalizers"], json!(["x/y"]));
    assert_eq!(value["spec"]["ports"], json!([{"name": "http", "port": 80}]));
}

#[test]
fn broken_fields_name_their_manager() {
    for (fields, part) in [
        (json!({"spec": {}}), "`spec` in fieldsV1 has no `:`"),
        (json!({"f:spec": 7}), "`7` in fieldsV1 is not an object"),
        (json!({"k:[]": {}}), "`k:[]` in fieldsV1 has no key fields"),
        (json!({"k:{}": {}}), "has no key fields"),
        (json!({"v:{": {}}), "is not a JSON value"),
        (json!({"i:-1": {}}), "is not an index"),
    ] {
        let broken = service(json!([entry("you", "Apply", "", fields)]));
        let error = extract_value(&broken, "me", "").unwrap_err();
        assert!(matches!(&error, ExtractError::Fields { manager, .. } if manager == "you"), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// Maps of maps, sets, lists with the key `name` and scalars.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,3}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let map = proptest::collection::btree_map("[a-z.:]{0,3}", inner, 0..4);
        prop_oneof![
            map.clone().prop_map(|map| json!(map)),
            proptest::collection::btree_set("[a-c]{1,2}", 0..4).prop_map(|set| json!(set)),
            proptest::collection::vec(map, 0..4).prop_map(|items| {
                let named = items.into_iter().enumerate().map(|(at, mut item)| {
                    item.insert("name".to_owned(), json!(at));
                    json!(item)
                });
                Value::Array(named.collect())
            }),
        ]
    })
}

/// Maps of them with at least so many members.
fn objects(least: usize) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[a-z.:]{0,3}", values(), least..4).prop_map(|map| json!(map))
}

/// `fieldsV1` of a part of a value: `keep` says of each leaf whether it is in.
fn fields_of(value: &Value, keep: &mut dyn FnMut() -> bool) -> Option<Value> {
    let mut fields = serde_json::Map::new();
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                fields.extend(fields_of(value, keep).map(|below| (format!("f:{name}"), below)));
            }
        }
        Value::Array(items) => {
            for item in items {
                let name = item
                    .get("name")
                    .map_or_else(|| format!("v:{item}"), |name| format!("k:{{\"name\":{name}}}"));
                fields.extend(fields_of(item, keep).map(|below| (name, below)));
            }
        }
        _ => return keep().then(|| json!({})),
    }
    if !fields.is_empty() {
        return Some(Value::Object(fields));
    }
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty);
    (is_empty && keep()).then(|| json!({}))
}

/// Whether everything in `part` is in `whole`; items of lists in the same order.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| is_part(part, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            let mut whole = whole.iter();
            part.iter().all(|part| whole.any(|whole| is_part(part, whole)))
        }
        (part, whole) => part == whole,
    }
}

fn below(value: &Value, fields: &Value) -> Value {
    super::extract::below(value, &Set::from_fields_v1(fields).unwrap(), &[])
}

proptest! {
    #[test]
    fn all_fields_extract_the_whole_value(value in objects(1)) {
        let fields = fields_of(&value, &mut || true).unwrap();
        prop_assert_eq!(below(&value, &fields), value);
    }

    #[test]
    fn some_fields_extract_a_part_and_extraction_is_idempotent(value in objects(0), mut choice in any::<u64>()) {
        let mut keep = || { choice = choice.rotate_left(1); choice & 1 == 1 };
        if let Some(fields) = fields_of(&value, &mut keep) {
            let part = below(&value, &fields);
            prop_assert!(is_part(&part, &value), "{part} of {value} by {fields}");
            prop_assert_eq!(below(&part, &fields), part);
        }
    }

    #[test]
    fn malformed_fields_do_not_panic(value in values(), fields in values(), names in proptest::collection::btree_map("[fkvi.]:?[a-z0-9{}\":]{0,6}", values(), 0..4)) {
        for fields in [fields, json!(names)] {
            if let Ok(set) = Set::from_fields_v1(&fields) {
                super::extract::below(&value, &set, &[&set]);
            }
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Part {
    name: Option<String>,
    size: Option<Option<i32>>,
    parts: Option<Vec<Part>>,
    rest: Option<Value>,
}

crate::applyconfigurations::fields!(Part, name("name"), size("maxSize"), parts("parts"), rest("rest"));

#[test]
fn only_set_fields_are_written() {
    let part = Part { size: Some(None), parts: Some(vec![Part::default()]), ..Part::default() };
    assert_eq!(serde_json::to_string(&part).unwrap(), r#"{"maxSize":null,"parts":[{}]}"#);
}

#[test]
fn null_is_read_only_where_the_field_has_it() {
    let text = r#"{"name": null, "maxSize": null, "parts": [{"maxSize": 7}], "rest": null}"#;
    let inner = Part { size: Some(Some(7)), ..Part::default() };
    let part = Part { size: Some(None), parts: Some(vec![inner]), ..Part::default() };
    assert_eq!(serde_json::from_str::<Part>(text).unwrap(), part);
}

#[test]
fn unknown_fields_are_ignored_and_other_types_refused() {
    assert_eq!(serde_json::from_value::<Part>(json!({"other": {"a": [1]}})).unwrap(), Part::default());
    let refused = |value: Value| serde_json::from_value::<Part>(value).unwrap_err().to_string();
    assert!(refused(json!({"name": 1})).starts_with("invalid type: integer `1`, expected a string"));
    let twice = serde_json::from_str::<Part>(r#"{"name": "a", "name": "b"}"#).unwrap_err();
    assert!(twice.to_string().starts_with("duplicate field `name`"), "{twice}");
    assert_eq!(refused(json!("a")), "invalid type: string \"a\", expected the fields of an object");
}
