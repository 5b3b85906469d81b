//! The selectors of requests, and `LabelSelector`s in objects.

use kubesmith_apimachinery::{fields, labels};
use serde_json::{Map, Value};

use crate::status::{ApiError, ApiResult};

/// Parses the label selector of a request.
pub(crate) fn labels(text: &str) -> ApiResult<labels::Selector> {
    text.parse().map_err(|error: labels::ParseError| ApiError::bad_request(error.message()))
}

/// Parses the field selector of a request. The kind offers the fields in `offered`, the name and, if it is namespaced, the
/// namespace.
pub(crate) fn fields(text: &str, offered: &[String], namespaced: bool) -> ApiResult<fields::Selector> {
    let selector = fields::Selector::parse(text).map_err(|error| ApiError::bad_request(error.to_string()))?;
    let is_offered = |field: &str| match field {
        "metadata.name" => true,
        "metadata.namespace" if namespaced => true,
        other => offered.iter().any(|one| one == other),
    };
    if let Some(field) = selector.fields().find(|field| !is_offered(field)) {
        return Err(ApiError::bad_request(format!("field label not supported: {field}")));
    }
    Ok(selector)
}

/// Whether the fields of an object match. Scalars compare as text, and a missing field is empty.
pub(crate) fn fields_match(selector: &fields::Selector, object: &Value) -> bool {
    selector.matches_by(|path| {
        let value = path.trim_start_matches('.').split('.').fold(object, |value, part| &value[part]);
        match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        }
    })
}

/// Whether a `LabelSelector` has no requirement. The field that holds it says whether it then matches everything or nothing.
pub(crate) fn is_empty(selector: &Value) -> bool {
    selector["matchLabels"].as_object().is_none_or(Map::is_empty)
        && selector["matchExpressions"].as_array().is_none_or(Vec::is_empty)
}

/// Whether a `LabelSelector` matches a map of labels. An invalid one matches nothing.
pub(crate) fn matches(selector: &Value, labels: &Value) -> bool {
    labels::Selector::from_json(selector).is_ok_and(|selector| selector.matches_json(labels))
}

/// The text of a `LabelSelector`; empty if it has no requirement.
pub(crate) fn text(selector: &Value) -> String {
    match is_empty(selector) {
        true => String::new(),
        false => labels::Selector::from_json(selector).unwrap_or_default().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn field_selector_takes_offered_fields_only() {
        let offered = ["spec.size".to_owned()];
        let selector = fields("spec.size=3,metadata.name!=y", &offered, true).unwrap();
        assert!(fields_match(&selector, &json!({"metadata": {"name": "x"}, "spec": {"size": 3}})));
        assert!(!fields_match(&selector, &json!({"metadata": {"name": "y"}, "spec": {"size": 3}})));
        let error = fields("spec.other=1", &offered, true).unwrap_err();
        assert_eq!(error.message(), "field label not supported: spec.other");
        assert!(fields("metadata.namespace=a", &offered, false).is_err());
    }

    #[test]
    fn label_selector_of_an_object_is_empty_without_requirements() {
        assert!(is_empty(&json!({"matchLabels": {}})) && is_empty(&Value::Null));
        assert_eq!(text(&Value::Null), "");
        let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "d", "operator": "DoesNotExist"}]});
        assert!(!is_empty(&selector) && matches(&selector, &json!({"a": "b"})));
        assert!(!matches(&selector, &json!({"a": "b", "d": ""})));
        assert_eq!(text(&selector), "a=b,!d");
    }
}
