use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::DynamicObject;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Decoder, Frame, Lean, Verb};
use crate::json::Fast;

fn frame<K: super::Decode>(line: &[u8]) -> Result<Frame<K>, super::MalformedFrame> {
    super::frame(line, &mut Decoder::new(true))
}

fn object() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": "a", "namespace": "b", "resourceVersion": "7",
            "managedFields": [{ "manager": "m", "fieldsV1": { "f:metadata": { "f:managedFields": {} } } }],
            "labels": { "managedFields": "kept" },
        },
        "data": { "metadata": "{\"managedFields\": 1}", "managedFields": "kept" },
    })
}

fn decoded(line: &Value) -> Frame<ConfigMap> {
    frame(line.to_string().as_bytes()).unwrap()
}

#[test]
fn managed_fields_are_left_out_and_nothing_else() {
    let lean: Lean<ConfigMap> = serde_json::from_value(object()).unwrap();
    let mut full: ConfigMap = serde_json::from_value(object()).unwrap();
    assert!(full.metadata.managed_fields.take().is_some());
    assert_eq!(lean.0, full);
}

#[test]
fn escaped_keys_are_the_same_keys() {
    let text = r#"{"met\u0061data":{"n\u0061me":"x","managed\u0046ields":[{"manager":"m"}]}}"#;
    let lean: Lean<ConfigMap> = serde_json::from_str(text).unwrap();
    assert_eq!(lean.0.metadata.name.as_deref(), Some("x"));
    assert_eq!(lean.0.metadata.managed_fields, None);
}

#[test]
fn types_that_flatten_decode_too() {
    let lean: Lean<DynamicObject> = serde_json::from_value(object()).unwrap();
    assert_eq!(lean.0.metadata.name.as_deref(), Some("a"));
    assert_eq!(lean.0.metadata.managed_fields, None);
    assert_eq!(lean.0.data["data"]["managedFields"], "kept");
}

#[test]
fn both_deserializers_leave_out_the_same() {
    let escaped = r#"{"met\u0061data":{"n\u0061me":"x","managed\u0046ields":[{"manager":"m"}]},"data":{"metadata":"kept"}}"#;
    let last = r#"{"metadata": {"name": "x", "managedFields": [1]}, "data": {"managedFields": "kept"}}"#;
    let none = r#"{"metadata": {"managedFields": [], "name": "x"}}"#;
    for text in [&object().to_string(), escaped, none] {
        let fast: Result<Lean<ConfigMap>, _> = Deserialize::deserialize(&mut Fast::new(text));
        let slow: Lean<ConfigMap> = serde_json::from_str(text).unwrap();
        assert_eq!(fast.unwrap().0, slow.0, "{text}");
        let fast: Result<Lean<DynamicObject>, _> = Deserialize::deserialize(&mut Fast::new(text));
        let slow: Lean<DynamicObject> = serde_json::from_str(text).unwrap();
        assert_eq!(fast.unwrap().0, slow.0, "{text}");
    }
    // What is passed over need not fit.
    let fast: Lean<ConfigMap> = Deserialize::deserialize(&mut Fast::new(last)).unwrap();
    assert_eq!(fast.0.data.unwrap()["managedFields"], "kept");
}

#[test]
fn frames_of_all_types() {
    for (kind, expected) in
        [("ADDED", Verb::Applied), ("MODIFIED", Verb::Applied), ("DELETED", Verb::Deleted)]
    {
        match decoded(&json!({ "type": kind, "object": object() })) {
            Frame::Object { verb, object } => {
                assert_eq!(verb, expected);
                assert_eq!(object.metadata.name.as_deref(), Some("a"));
            }
            other => panic!("{other:?}"),
        }
    }
    let bookmark = json!({
        "type": "BOOKMARK",
        "object": { "metadata": { "resourceVersion": "9", "annotations": { "k8s.io/initial-events-end": "true" } } },
    });
    match decoded(&bookmark) {
        Frame::Bookmark { version, initial_events_end: true } => assert_eq!(version, "9"),
        other => panic!("{other:?}"),
    }
    let error = json!({ "type": "ERROR", "object": { "code": 410, "reason": "Expired" } });
    assert!(matches!(decoded(&error), Frame::Error(status) if status.code == 410));
}

#[test]
fn the_object_may_come_before_its_type() {
    let line = format!(r#"{{"object":{},"type":"DELETED"}}"#, object());
    let frame = frame::<ConfigMap>(line.as_bytes()).unwrap();
    match frame {
        Frame::Object { verb: Verb::Deleted, object } => assert_eq!(object.metadata.managed_fields, None),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_object_of_another_kind_or_shape_is_undecodable_with_its_key() {
    let mut wrong_kind = object();
    wrong_kind["kind"] = json!("Secret");
    let mut wrong_shape = object();
    wrong_shape["data"] = json!(7);
    for wrong in [wrong_kind, wrong_shape] {
        match decoded(&json!({ "type": "ADDED", "object": wrong })) {
            Frame::Undecodable { verb: Verb::Applied, object } => {
                assert_eq!(object.key.unwrap().to_string(), "b/a");
                assert_eq!(object.why.resource_version.as_deref(), Some("7"));
                assert!(object.why.message.contains("invalid"), "{}", object.why.message);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn other_lines_are_malformed() {
    for line in [
        "",
        "null",
        "[]",
        "{}",
        "{\"type\":\"NEWS\",\"object\":{}}",
        "{\"type\":\"ADDED\"",
        "{\"type\":\"ADDED\",\"object\":{}} x",
    ] {
        assert!(frame::<ConfigMap>(line.as_bytes()).is_err(), "{line}");
    }
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = frame::<ConfigMap>(&bytes);
    }

    #[test]
    fn a_truncated_line_never_decodes(cut in 1_usize..200) {
        let line = json!({ "type": "ADDED", "object": object() }).to_string();
        prop_assume!(cut < line.len());
        prop_assert!(frame::<ConfigMap>(&line.as_bytes()[..cut]).is_err());
    }
}
