//! Events of the core group and of `events.k8s.io`: two versions of one stored object.

use serde_json::{Value, json};

/// Members that both forms share under other names: (core, events.k8s.io).
const RENAMED: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn fill(object: &mut Value, key: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.entry(key).or_insert(value);
    }
}

fn rename(
    mut object: Value,
    api_version: &str,
    pairs: impl Iterator<Item = (&'static str, &'static str)>,
) -> Value {
    if let Some(map) = object.as_object_mut() {
        for (from, to) in pairs {
            if let Some(value) = map.remove(from) {
                map.insert(to.to_owned(), value);
            }
        }
        map.insert("apiVersion".to_owned(), Value::from(api_version));
    }
    object
}

/// Returns the stored form of an event of `events.k8s.io`.
pub(super) fn to_core(object: Value) -> Value {
    let mut object = rename(object, "v1", RENAMED.iter().map(|(core, other)| (*other, *core)));
    default_core(&mut object);
    object
}

/// Returns the `events.k8s.io` form of a stored event.
pub(super) fn from_core(object: Value) -> Value {
    let mut object = rename(object, "events.k8s.io/v1", RENAMED.iter().copied());
    if let Some(map) = object.as_object_mut() {
        for field in ["reportingController", "reportingInstance", "note", "reason", "type"] {
            if map.get(field).is_some_and(|v| v == "") {
                map.remove(field);
            }
        }
    }
    default_events(&mut object);
    object
}

fn default_core(object: &mut Value) {
    fill(object, "source", json!({}));
    for time in ["firstTimestamp", "lastTimestamp", "eventTime"] {
        fill(object, time, Value::Null);
    }
    for text in ["reportingComponent", "reportingInstance"] {
        fill(object, text, json!(""));
    }
}

fn default_events(object: &mut Value) {
    fill(object, "deprecatedSource", json!({}));
    for time in ["deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"] {
        fill(object, time, Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_round_trips_through_the_core_group() {
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
            "regarding": {"kind": "Pod"}, "note": "n", "reportingController": "c", "reportingInstance": "i",
            "eventTime": "2026-01-02T03:04:05.000006Z", "deprecatedCount": 2,
        });
        let stored = to_core(event.clone());
        assert_eq!(stored["apiVersion"], "v1");
        assert_eq!(stored["involvedObject"]["kind"], "Pod");
        assert_eq!(stored["message"], "n");
        let back = from_core(stored);
        for (key, value) in event.as_object().unwrap() {
            assert_eq!(&back[key], value, "{key}");
        }
    }
}
