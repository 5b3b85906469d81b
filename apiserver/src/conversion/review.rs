//! `ConversionReview`: the request, the response, and the changes that a conversion may make.

use kubesmith_apiextensions::structural::object_meta;
use kubesmith_apimachinery::{field, golang};
use serde_json::{Map, Value, json};

use crate::meta;

/// Builds the review of a request.
pub(super) fn question(objects: &[&Value], to: &str, uid: &str, version: &str) -> Value {
    json!({
        "kind": "ConversionReview", "apiVersion": format!("apiextensions.k8s.io/{version}"),
        "request": {"uid": uid, "desiredAPIVersion": to, "objects": objects},
        "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
    })
}

/// Returns the objects of the response.
///
/// # Errors
/// Returns the fault of the response.
pub(super) fn converted(mut answer: Value, uid: &str, version: &str) -> Result<Vec<Value>, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (own_version, kind) = (text(&answer["apiVersion"]), text(&answer["kind"]));
    if version == "v1"
        && (own_version.as_str(), kind.as_str()) != ("apiextensions.k8s.io/v1", "ConversionReview")
    {
        let own_version = if own_version.is_empty() { "/".to_owned() } else { own_version };
        return Err(format!(
            "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {own_version}, Kind={kind}"
        ));
    }
    let response = &mut answer["response"];
    if !response.is_object() {
        return Err("no response provided".to_owned());
    }
    let echoed = text(&response["uid"]);
    if version == "v1" && echoed != uid {
        let (uid, echoed) = (golang::quote(uid), golang::quote(&echoed));
        return Err(format!("expected response.uid={uid}, got {echoed}"));
    }
    let status = text(&response["result"]["status"]);
    if status != "Success" {
        let message = text(&response["result"]["message"]);
        let unexplained = || format!("response.result.status was '{status}', not 'Success'");
        return Err(if message.is_empty() { unexplained() } else { message });
    }
    match response["convertedObjects"].take() {
        Value::Array(objects) => Ok(objects),
        _ => Ok(Vec::new()),
    }
}

/// The kind and versions of a conversion, for its errors.
pub(super) struct Subject {
    /// Group, version and kind that objects are converted from.
    from: String,
    kind: String,
    to: String,
}

impl Subject {
    pub(super) fn of(object: &Value, to: &str) -> Self {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        let kind = text("kind");
        Self { from: format!("{}, Kind={kind}", text("apiVersion")), kind, to: to.to_owned() }
    }

    /// Describes a failed call of the webhook.
    pub(super) fn failed(&self, why: &str) -> String {
        format!("conversion webhook for {} failed: {why}", self.from)
    }

    /// Returns the converted objects with the metadata of the originals, of which only labels and annotations may
    /// change.
    ///
    /// # Errors
    /// Returns the first forbidden change.
    pub(super) fn checked(&self, asked: &[&Value], answered: Vec<Value>) -> Result<Vec<Value>, String> {
        if answered.len() != asked.len() {
            let (found, expected) = (answered.len(), asked.len());
            let text = format!("returned {found} objects, expected {expected}");
            return Err(format!("conversion webhook for {} {text}", self.from));
        }
        let pairs = asked.iter().zip(answered).enumerate();
        pairs.map(|(at, (original, converted))| self.check(at, original, converted)).collect()
    }

    fn check(&self, at: usize, original: &Value, mut converted: Value) -> Result<Value, String> {
        let returned = |text: String| format!("conversion webhook for {} returned {text}", self.from);
        let text = |key: &str| converted[key].as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text("apiVersion"), text("kind"));
        if version != self.to {
            let text = format!("invalid groupVersion (expected {}, received {version})", self.to);
            return Err(returned(format!("invalid object at index {at}: {text}")));
        }
        if kind != self.kind {
            let text = format!("invalid kind (expected {}, received {kind})", self.kind);
            return Err(returned(format!("invalid object at index {at}: {text}")));
        }
        for (field, noun) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
            let (before, after) = (meta::text(original, field), meta::text(&converted, field));
            if before != after {
                return Err(returned(format!(
                    "invalid object: must have the same {noun}: {before} != {after}"
                )));
            }
        }
        restore_metadata(original, &mut converted).map_err(|e| returned(format!("invalid metadata: {e}")))?;
        Ok(converted)
    }
}

fn restore_metadata(original: &Value, converted: &mut Value) -> Result<(), String> {
    let Some(map) = converted.as_object_mut() else {
        return Err("missing metadata in converted object".to_owned());
    };
    let given = match map.remove("metadata") {
        Some(Value::Object(given)) => given,
        Some(other) => {
            return Err(format!("invalid metadata of type {} in converted object", go_type(&other)));
        }
        None => return Err("missing metadata in converted object".to_owned()),
    };
    let mut restored = original["metadata"].as_object().cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        let before = restored.remove(field);
        match given.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::Object(after)) => {
                check_texts(field, before.as_ref(), after)?;
                restored.insert(field.to_owned(), Value::Object(after.clone()));
            }
            Some(other) => {
                let kind = go_type(other);
                return Err(format!("invalid metadata.{field} of type {kind} in converted object"));
            }
        }
    }
    map.insert("metadata".to_owned(), Value::Object(restored));
    Ok(())
}

fn check_texts(member: &str, before: Option<&Value>, after: &Map<String, Value>) -> Result<(), String> {
    for (key, value) in after {
        if !value.is_string() {
            let kind = go_type(value);
            return Err(format!(
                "metadata.{member}[{key}] must be a string, but is {kind} in converted object"
            ));
        }
    }
    if before.and_then(Value::as_object) == Some(after) {
        return Ok(());
    }
    let after = Value::Object(after.clone());
    let faults = match member {
        "labels" => object_meta::validate_labels(&after, "metadata.labels"),
        _ => object_meta::validate_annotations(&after, "metadata.annotation"),
    };
    if faults.is_empty() { Ok(()) } else { Err(field::aggregate(&faults)) }
}

/// Go's name for the type of a JSON value.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(version: &str) -> Value {
        json!({"apiVersion": format!("a.b/{version}"), "kind": "W",
               "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}, "generation": 3}})
    }

    fn check(converted: Value) -> Result<Value, String> {
        let original = object("v1");
        Subject::of(&original, "a.b/v2").checked(&[&original], vec![converted]).map(|mut all| all.remove(0))
    }

    #[test]
    fn only_labels_and_annotations_of_metadata_may_change() {
        let mut converted = object("v2");
        converted["metadata"]["labels"] = json!({"c": "d"});
        converted["metadata"]["annotations"] = json!({"e": "f"});
        converted["metadata"]["generation"] = json!(9);
        converted["metadata"]["finalizers"] = json!(["x/y"]);
        let checked = check(converted).unwrap();
        assert_eq!(
            checked["metadata"],
            json!({"name": "n", "uid": "u", "generation": 3, "labels": {"c": "d"}, "annotations": {"e": "f"}})
        );
    }

    #[test]
    fn conversion_that_changes_metadata_is_refused_as_upstream() {
        let with = |pointer: &str, value: Value| {
            let mut converted = object("v2");
            *converted.pointer_mut(pointer).unwrap() = value;
            converted
        };
        for (converted, expected) in [
            (
                object("v1"),
                "invalid object at index 0: invalid groupVersion (expected a.b/v2, received a.b/v1)",
            ),
            (with("/kind", json!("X")), "invalid object at index 0: invalid kind (expected W, received X)"),
            (with("/metadata/name", json!("m")), "invalid object: must have the same name: n != m"),
            (with("/metadata/uid", json!("v")), "invalid object: must have the same UID: u != v"),
            (
                with("/metadata/labels", json!({"a": 1})),
                "invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
            ),
            (
                with("/metadata/labels", json!({"-": "a", "a": "-"})),
                "invalid metadata: [metadata.labels: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' \
                 or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
                 regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), metadata.labels: Invalid value: \"-\": a \
                 valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                 with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]",
            ),
            (
                with(
                    "/metadata",
                    json!({"name": "n", "uid": "u", "annotations": {"a": "x".repeat(256 * 1024)}}),
                ),
                "invalid metadata: metadata.annotation: Too long: may not be more than 262144 bytes",
            ),
            (
                with("/metadata/labels", json!("x")),
                "invalid metadata: invalid metadata.labels of type string in converted object",
            ),
        ] {
            let error = check(converted).unwrap_err();
            assert_eq!(error, format!("conversion webhook for a.b/v1, Kind=W returned {expected}"));
        }
        let original = object("v1");
        let error = Subject::of(&original, "a.b/v2").checked(&[&original], Vec::new()).unwrap_err();
        assert_eq!(error, "conversion webhook for a.b/v1, Kind=W returned 0 objects, expected 1");
    }

    #[test]
    fn v1beta1_review_needs_no_uid() {
        let answer = json!({"response": {"result": {"status": "Success"}, "convertedObjects": [{}]}});
        assert_eq!(converted(answer, "u", "v1beta1").unwrap(), [json!({})]);
    }

    #[test]
    fn review_is_checked_before_its_objects() {
        let answer = |response: Value| json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response});
        for (answer, expected) in [
            (
                json!({}),
                "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
            ),
            (answer(Value::Null), "no response provided"),
            (answer(json!({"uid": "x"})), "expected response.uid=\"u\", got \"x\""),
            (answer(json!({"uid": "u", "result": {"status": "Failure", "message": "no"}})), "no"),
            (answer(json!({"uid": "u"})), "response.result.status was '', not 'Success'"),
        ] {
            assert_eq!(converted(answer, "u", "v1").unwrap_err(), expected);
        }
    }
}
