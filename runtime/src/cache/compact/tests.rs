use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, PodStatus};
use kube::core::PartialObjectMeta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::controller::Predicate;
use crate::json::JsonReader;
use crate::object::Decode;

fn compact<K: Cached>(json: &str) -> Result<K, serde_json::Error> {
    let mut json = JsonReader::new(json);
    K::decode(&mut json, true, &mut K::Context::default()).map_err(|error| json.explain(&error))
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web-0", "namespace": "shop", "uid": "u-1", "resourceVersion": "17",
            "labels": { "tier": "front", "app": "web" },
            "annotations": { "say": "\"hi\"", "other": "x" },
            "managedFields": [{ "manager": "kubelet" }],
            "ownerReferences": [
                { "apiVersion": "v1", "kind": "Node", "name": "n", "uid": "n" },
                { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r", "controller": true },
            ],
        },
        "spec": { "containers": [{ "name": "web" }] },
        "status": { "phase": "Running" },
    })
}

#[test]
fn object_keeps_everything_but_managed_fields() {
    let pod = pod();
    let object = compact::<Compact<Pod>>(&pod.to_string()).unwrap();
    assert_eq!(object.key().to_string(), "shop/web-0");
    assert_eq!((object.uid(), object.resource_version()), ("u-1", "17"));
    assert_eq!(object.labels().collect::<Vec<_>>(), [("app", "web"), ("tier", "front")]);
    assert_eq!((object.label("tier"), object.label("tie")), (Some("front"), None));
    assert_eq!(object.annotation("say").as_deref(), Some("\"hi\""));
    assert_eq!(object.annotation("none"), None);
    assert_eq!(object.object_controller().unwrap().name, "web");
    assert!(object.is_selected_by(&"tier in (front), app".parse().unwrap()));
    assert!(!object.is_selected_by(&"tier!=front".parse().unwrap()));
    let status = object.field::<PodStatus>("status").unwrap().unwrap();
    assert_eq!(status.phase.as_deref(), Some("Running"));
    assert!(object.field::<Value>("data").unwrap().is_none());

    let mut whole: Pod = serde_json::from_value(pod).unwrap();
    whole.metadata.managed_fields = None;
    assert_eq!(object.metadata().unwrap(), whole.metadata);
    assert_eq!(object.object().unwrap(), whole);
}

#[test]
fn managed_fields_are_kept_on_request() {
    let text = pod().to_string();
    let object =
        Compact::<Pod>::decode(&mut JsonReader::new(&text), false, &mut decode::Context::default()).unwrap();
    assert!(object.object().unwrap().metadata.managed_fields.is_some());
}

#[test]
fn kind_and_version_are_the_types_own_or_those_sent() {
    let bare = compact::<Compact<ReplicaSet>>(r#"{"metadata":{"name":"a"}}"#).unwrap();
    assert_eq!(bare.to_json(), r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"a"}}"#);
    let sent = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}"#;
    let partial = compact::<Compact<PartialObjectMeta<ReplicaSet>>>(sent).unwrap();
    let read: Value = serde_json::from_str(&partial.to_json()).unwrap();
    assert_eq!(read, serde_json::from_str::<Value>(sent).unwrap());
    assert_eq!(partial.object().unwrap().metadata.name.as_deref(), Some("a"));
}

#[test]
fn object_that_does_not_fit_fails_on_access() {
    let object =
        compact::<Compact<ConfigMap>>(r#"{"metadata":{"name":"a","namespace":"b"},"data":7}"#).unwrap();
    let error = object.object().unwrap_err().to_string();
    assert!(error.starts_with("cannot decode ConfigMap \"b/a\": invalid type: integer `7`"), "{error}");
}

#[test]
fn object_without_a_name_is_undecodable() {
    for text in [
        "{}",
        r#"{"metadata":{}}"#,
        r#"{"metadata":{"name":null}}"#,
        r#"{"metadata":{"name":"a"},"metadata":{"name":"b"}}"#,
        r#"{"metadata":{"name":"a","labels":{"a":1}}}"#,
        r#"{"metadata":null}"#,
        "[]",
    ] {
        assert!(compact::<Compact<ConfigMap>>(text).is_err(), "{text}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,4}", "\\PC{0,6}", Just("a\"\\\n\u{1}é\u{1F600}".to_owned())]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_round_trips(
        name in "[a-z\"\\\\]{1,8}",
        labels in proptest::collection::btree_map(text(), text(), 0..4),
        annotations in proptest::collection::btree_map(text(), text(), 0..3),
        members in proptest::collection::btree_map(text(), value(), 0..4),
    ) {
        let mut object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
        if !labels.is_empty() {
            object["metadata"]["labels"] = json!(labels);
        }
        object["metadata"]["annotations"] = json!(annotations);
        for (name, value) in members {
            if name != "metadata" {
                object[name] = value;
            }
        }
        let read = compact::<Compact<ConfigMap>>(&object.to_string()).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&read.to_json()).unwrap(), object);
        for (name, value) in &labels {
            prop_assert_eq!(read.label(name), Some(value.as_str()));
        }
        for (name, value) in &annotations {
            let annotation = read.annotation(name);
            prop_assert_eq!(annotation.as_deref(), Some(value.as_str()));
        }
    }

    #[test]
    fn decode_does_not_panic_on_damaged_text(text in "[\\[\\]{}:,\"a-z0-9]{0,60}") {
        let _ = compact::<Compact<ConfigMap>>(&text);
        let _ = compact::<Compact<ConfigMap>>(&format!(r#"{{"metadata":{{"name":"a",{text}}}}}"#));
    }
}

/// Which predicates pass for an update between objects with this metadata.
fn passed<K: Cached>(old: &Value, new: &Value) -> [bool; 5] {
    let decoded = |metadata: &Value| compact::<K>(&json!({ "metadata": metadata }).to_string()).unwrap();
    let (old, new) = (decoded(old), decoded(new));
    [
        Predicate::<K>::generation_changed(),
        Predicate::resource_version_changed(),
        Predicate::labels_changed(),
        Predicate::annotations_changed(),
        Predicate::label_selector("app=web".parse().unwrap()),
    ]
    .map(|predicate| predicate.passes_update(&old, &new))
}

#[test]
fn predicates_agree_on_every_form_of_an_object() {
    let base = json!({
        "name": "a", "generation": 1, "resourceVersion": "7", "labels": { "app": "web" }, "annotations": { "a": "1" },
    });
    let with = |name: &str, value: Value| {
        let mut metadata = base.clone();
        metadata[name] = value;
        (base.clone(), metadata)
    };
    let (bare, empty) = (json!({ "name": "a" }), json!({ "name": "a", "labels": {}, "annotations": {} }));
    for ((old, new), expected) in [
        ((base.clone(), base.clone()), [false, false, false, false, true]),
        (with("generation", json!(2)), [true, false, false, false, true]),
        (with("resourceVersion", json!("8")), [false, true, false, false, true]),
        (with("labels", json!({ "app": "db" })), [false, false, true, false, false]),
        (with("labels", json!({})), [false, false, true, false, false]),
        (with("annotations", json!({ "a": "2" })), [false, false, false, true, true]),
        (with("annotations", Value::Null), [false, false, false, true, true]),
        (with("finalizers", json!(["f"])), [false, false, false, false, true]),
        ((bare, empty), [false; 5]),
    ] {
        let forms = [
            passed::<Pod>(&old, &new),
            passed::<PartialObjectMeta<Pod>>(&old, &new),
            passed::<Compact<Pod>>(&old, &new),
            passed::<Compact<PartialObjectMeta<Pod>>>(&old, &new),
        ];
        assert_eq!(forms, [expected; 4], "{old} {new}");
    }
}
