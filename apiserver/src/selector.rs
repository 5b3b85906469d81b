//! The selectors of requests, and `LabelSelector`s in objects.

use kubesmith_apiextensions::cel;
use kubesmith_apimachinery::sharding::ShardSelector;
use kubesmith_apimachinery::{fields, labels};
use serde_json::{Map, Value};

use crate::status::{ApiError, ApiResult};

/// Parses the label selector of a request.
pub(crate) fn labels(text: &str) -> ApiResult<labels::Selector> {
    text.parse().map_err(|error: labels::ParseError| ApiError::bad_request(error.message()))
}

/// Parses the field selector of a request.
pub(crate) fn fields(text: &str) -> ApiResult<fields::Selector> {
    fields::Selector::parse(text).map_err(|error| ApiError::bad_request(error.to_string()))
}

/// Parses the shard selector of a request. A malformed one is not a `BadRequest` in kube-apiserver.
pub(crate) fn shards(text: &str) -> ApiResult<ShardSelector> {
    cel::shard_selector(text)
        .map_err(|error| ApiError::unexpected(format!("invalid shard selector: {error}")))
}

/// Reports whether a `LabelSelector` has no requirement. The field that holds it decides whether it then matches
/// everything or nothing.
pub(crate) fn is_empty(selector: &Value) -> bool {
    selector["matchLabels"].as_object().is_none_or(Map::is_empty)
        && selector["matchExpressions"].as_array().is_none_or(Vec::is_empty)
}

/// Reports whether a `LabelSelector` is valid for `LabelSelectorAsSelector`.
pub(crate) fn is_valid(selector: &Value) -> bool {
    labels::Selector::from_json(selector).is_ok()
}

/// Reports whether a `LabelSelector` matches a map of labels. An invalid one matches nothing.
pub(crate) fn matches(selector: &Value, labels: &Value) -> bool {
    labels::Selector::from_json(selector).is_ok_and(|selector| selector.matches_json(labels))
}

/// Formats a `LabelSelector`; empty if it has no requirement.
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
    fn label_selector_of_an_object_is_empty_without_requirements() {
        assert!(is_empty(&json!({"matchLabels": {}})) && is_empty(&Value::Null));
        assert_eq!(text(&Value::Null), "");
        let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "d", "operator": "DoesNotExist"}]});
        assert!(!is_empty(&selector) && matches(&selector, &json!({"a": "b"})));
        assert!(!matches(&selector, &json!({"a": "b", "d": ""})));
        assert_eq!(text(&selector), "a=b,!d");
    }
}
