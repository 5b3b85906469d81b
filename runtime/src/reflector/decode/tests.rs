use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::DynamicObject;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Frame, MalformedFrame, Verb};
use crate::json::{Error, JsonReader};
use crate::object::{Cached, Decode, KindOf};
use crate::reflector::{FormOf, ReflectorOptions, typed};

fn form<K: Cached<DynamicType = ()>>() -> FormOf<K> {
    FormOf::new(KindOf::of_type(), &ReflectorOptions::new(), crate::cache::store().reader())
}

fn frame<K: Cached<DynamicType = ()>>(line: &[u8]) -> Result<Frame, MalformedFrame> {
    super::frame(line, &mut form::<K>())
}

/// Decodes without managedFields.
fn lean<K: Decode<Context = ()>>(text: &str) -> Result<K, Error> {
    K::decode(&mut JsonReader::new(text), true, &mut ())
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

fn decoded(line: &Value) -> Frame {
    frame::<ConfigMap>(line.to_string().as_bytes()).unwrap()
}

#[test]
fn only_managed_fields_are_skipped() {
    let text = object().to_string();
    let mut full: ConfigMap = serde_json::from_value(object()).unwrap();
    assert!(full.metadata.managed_fields.take().is_some());
    assert_eq!(lean::<ConfigMap>(&text).unwrap(), full);
    let dynamic = lean::<DynamicObject>(&text).unwrap();
    assert_eq!(dynamic.metadata, full.metadata);
    assert_eq!(dynamic.data["data"]["managedFields"], "kept");
    let wanted = ConfigMap::decode(&mut JsonReader::new(&text), false, &mut ()).unwrap();
    assert!(wanted.metadata.managed_fields.is_some());
}

#[test]
fn escaped_member_names_are_recognised() {
    let text = r#"{"met\u0061data":{"n\u0061me":"x","managed\u0046ields":[{"manager":"m"}]},"data":{"metadata":"kept"}}"#;
    let map = lean::<ConfigMap>(text).unwrap();
    assert_eq!(map.metadata.name.as_deref(), Some("x"));
    assert_eq!(map.metadata.managed_fields, None);
    assert_eq!(map.data.unwrap()["metadata"], "kept");
}

#[test]
fn skipped_fields_are_not_checked() {
    let text = r#"{"metadata": {"name": "x", "managedFields": [1]}, "data": {"managedFields": "kept"}}"#;
    assert_eq!(lean::<ConfigMap>(text).unwrap().data.unwrap()["managedFields"], "kept");
    let first = r#"{"metadata": {"managedFields": [], "name": "x"}}"#;
    assert_eq!(lean::<ConfigMap>(first).unwrap().metadata.name.as_deref(), Some("x"));
}

#[test]
fn events_of_all_types_decode() {
    for (kind, expected) in
        [("ADDED", Verb::Applied), ("MODIFIED", Verb::Applied), ("DELETED", Verb::Deleted)]
    {
        match decoded(&json!({ "type": kind, "object": object() })) {
            Frame::Object { verb, object } => {
                assert_eq!(verb, expected);
                assert_eq!(object.key.to_string(), "b/a");
                assert_eq!(typed::<ConfigMap>(object.object).unwrap().metadata.name.as_deref(), Some("a"));
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
fn object_may_come_before_its_type() {
    let line = format!(r#"{{"object":{},"type":"DELETED"}}"#, object());
    let frame = frame::<ConfigMap>(line.as_bytes()).unwrap();
    match frame {
        Frame::Object { verb: Verb::Deleted, object } => {
            assert_eq!(typed::<ConfigMap>(object.object).unwrap().metadata.managed_fields, None);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn object_of_another_shape_is_undecodable_with_its_key() {
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
fn lines_that_are_not_events_are_malformed() {
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
    fn decode_does_not_panic_on_damaged_events(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = frame::<ConfigMap>(&bytes);
    }

    #[test]
    fn truncated_line_never_decodes(cut in any::<prop::sample::Index>()) {
        let line = json!({ "type": "ADDED", "object": object() }).to_string();
        prop_assert!(frame::<ConfigMap>(&line.as_bytes()[..cut.index(line.len())]).is_err());
    }
}

#[test]
fn transform_hides_neither_key_nor_version_from_the_reflector() {
    let strip = |map: &mut ConfigMap| map.metadata = Default::default();
    let store = crate::cache::store().reader();
    let mut options = ReflectorOptions::new();
    options.transform = Some(std::sync::Arc::new(strip));
    let mut form = FormOf::<ConfigMap>::new(KindOf::of_type(), &options, store);
    let line = json!({ "type": "ADDED", "object": object() }).to_string();
    let Ok(Frame::Object { object, .. }) = super::frame(line.as_bytes(), &mut form) else {
        panic!("no object")
    };
    assert_eq!(object.key.to_string(), "b/a");
    assert_eq!(object.version(), Some("7"));
    assert_eq!(object.object.version(), None);
}
