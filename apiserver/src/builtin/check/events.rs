//! Events. Source: `pkg/apis/core/validation/events.go`; paths of both versions are those of the internal type.

use kubesmith_apimachinery::names;
use serde_json::{Value, json};

use super::field::{Errors, Field};
use crate::builtin::events::to_core;
use crate::status::Cause;

/// Size limits of fields, in bytes.
const SHORT: usize = 128;
const NOTE: usize = 1024;

/// An event of `v1`: `legacyValidateEvent`.
pub(in crate::builtin) fn core_event(event: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| legacy(&Field::root(event), errors))
}

/// An event of `events.k8s.io/v1`, which is checked strictly.
pub(in crate::builtin) fn event(event: &Value, old: Option<&Value>) -> Vec<Cause> {
    let event = to_core(event.clone());
    let root = Field::root(&event);
    Errors::of(|errors| {
        legacy(&root, errors);
        match old {
            None => strict(&root, errors),
            Some(old) => {
                let old = to_core(old.clone());
                unchanged(&root, &Field::root(&old), errors);
            }
        }
    })
}

fn legacy(event: &Field<'_>, errors: &mut Errors) {
    let own = event.value["metadata"]["namespace"].as_str().unwrap_or_default();
    let involved = event.value["involvedObject"]["namespace"].as_str().unwrap_or_default();
    let is_new = event.child("eventTime").is_set();
    let fits = match involved {
        "" => own == "default" || (is_new && own == "kube-system"),
        involved => is_new || involved == own,
    };
    if !fits {
        let shown = json!(involved);
        let field = event.child("involvedObject").child("namespace");
        errors.invalid(&field.holding(&shown), "does not match event.namespace");
    }
    if is_new {
        reported(event, errors);
    }
}

/// Checks the fields that an event with `eventTime` needs.
fn reported(event: &Field<'_>, errors: &mut Errors) {
    let controller = event.child("reportingComponent").at("reportingController");
    if controller.is_empty() {
        errors.required(&controller, "");
    }
    let shown = json!(controller.text());
    errors.all_invalid(&controller.holding(&shown), names::qualified_name(controller.text()));
    for name in ["reportingInstance", "action", "reason"] {
        let field = event.child(name);
        if field.is_empty() {
            errors.required(&field, "");
        }
        at_most(&field, SHORT, errors);
    }
    at_most(&event.child("message"), NOTE, errors);
}

fn at_most(field: &Field<'_>, length: usize, errors: &mut Errors) {
    if field.text().len() > length {
        errors.invalid_as(field, "\"\"", &format!("can have at most {length} characters"));
    }
}

/// Checks the further rules for a new event of `events.k8s.io/v1`.
fn strict(event: &Field<'_>, errors: &mut Errors) {
    series(&event.child("series"), errors);
    if !event.child("eventTime").is_set() {
        errors.required(&event.child("eventTime"), "");
    }
    let kind = event.child("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        errors.invalid_as(&kind, "\"\"", &format!("has invalid value: {}", kind.text()));
    }
    let source = event.child("source");
    let set = [
        ("firstTimestamp", event.child("firstTimestamp").is_set()),
        ("lastTimestamp", event.child("lastTimestamp").is_set()),
        ("count", event.child("count").number_or_zero() != 0),
        ("source", ["component", "host"].iter().any(|name| !source.child(name).is_empty())),
    ];
    for (name, _) in set.iter().filter(|(_, is_set)| *is_set) {
        errors.invalid_as(&event.child(name), "\"\"", "needs to be unset");
    }
}

/// `validateV1EventSeries`.
fn series(series: &Field<'_>, errors: &mut Errors) {
    if !series.is_set() {
        return;
    }
    if series.child("count").number_or_zero() < 2 {
        errors.invalid_as(&series.child("count"), "\"\"", "should be at least 2");
    }
    if !series.child("lastObservedTime").is_set() {
        errors.required(&series.child("lastObservedTime"), "");
    }
}

/// Immutable fields; Kubernetes checks `reason` twice.
const IMMUTABLE: [(&str, &str); 14] = [
    ("involvedObject", "involvedObject"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "firstTimestamp"),
    ("lastTimestamp", "lastTimestamp"),
    ("count", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

fn unchanged(event: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    if event.child("series").value != old.child("series").value {
        series(&event.child("series"), errors);
    }
    for (name, path) in IMMUTABLE {
        errors.immutable(&event.child(name).at(path), &old.child(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new() -> Value {
        json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e", "namespace": "dt"},
               "eventTime": "2020-01-01T00:00:00.000000Z", "reportingController": "a.b/c", "reportingInstance": "i",
               "action": "A", "reason": "R", "type": "Normal", "regarding": {"kind": "Pod", "namespace": "dt"}})
    }

    fn fields(causes: &[Cause]) -> Vec<&str> {
        causes.iter().map(|cause| cause.field.as_str()).collect()
    }

    #[test]
    fn event_is_checked_strictly_when_its_group_is_events() {
        assert!(event(&new(), None).is_empty());
        let mut bad = new();
        bad["reason"] = json!("");
        bad["reportingController"] = json!("bad name");
        bad["note"] = json!("n".repeat(1025));
        bad["type"] = json!("X");
        bad["deprecatedCount"] = json!(1);
        assert_eq!(fields(&event(&bad, None)), ["reportingController", "reason", "message", "type", "count"]);
    }

    #[test]
    fn changed_event_names_immutable_fields_as_the_internal_type() {
        let mut changed = new();
        changed["reason"] = json!("Z");
        changed["note"] = json!("other");
        assert_eq!(fields(&event(&changed, Some(&new()))), ["reason", "message", "reason"]);
        assert!(event(&new(), Some(&new())).is_empty());
    }

    #[test]
    fn core_event_needs_the_namespace_of_its_object() {
        let event = |own: &str, involved: &str| {
            core_event(
                &json!({"metadata": {"namespace": own}, "involvedObject": {"namespace": involved}}),
                None,
            )
            .len()
        };
        assert_eq!((event("a", "a"), event("default", ""), event("a", ""), event("a", "b")), (0, 0, 1, 1));
    }
}
