//! `LabelSelector` objects as specs hold them.

use serde_json::{Map, Value};

fn terms(selector: &Value) -> impl Iterator<Item = &Value> {
    selector["matchExpressions"].as_array().into_iter().flatten()
}

/// Whether a selector names no condition; such a one selects everything or nothing, as its place says.
pub(crate) fn is_empty(selector: &Value) -> bool {
    selector["matchLabels"].as_object().is_none_or(Map::is_empty) && terms(selector).next().is_none()
}

/// Whether all conditions of a selector hold for a map of labels.
pub(crate) fn matches(selector: &Value, labels: &Value) -> bool {
    let equal =
        selector["matchLabels"].as_object().into_iter().flatten().all(|(k, v)| labels.get(k) == Some(v));
    let expressed = terms(selector).all(|term| {
        let value = labels.get(term["key"].as_str().unwrap_or_default());
        let listed = value.is_some_and(|v| term["values"].as_array().is_some_and(|list| list.contains(v)));
        match term["operator"].as_str().unwrap_or_default() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    });
    equal && expressed
}

/// The selector in the form that queries carry, its keys in order; empty when it names no condition.
pub(crate) fn text(selector: &Value) -> String {
    let pairs = selector["matchLabels"].as_object().into_iter().flatten();
    let mut parts: Vec<(&str, String)> =
        pairs.map(|(k, v)| (k.as_str(), format!("{k}={}", v.as_str().unwrap_or_default()))).collect();
    for term in terms(selector) {
        let key = term["key"].as_str().unwrap_or_default();
        let mut values = crate::meta::strings(&term["values"]);
        values.sort_unstable();
        let values = values.join(",");
        let text = match term["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key, text));
    }
    parts.sort_by_key(|(key, _)| *key);
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_evaluated() {
        let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["1", "2"]},
            {"key": "d", "operator": "DoesNotExist"},
        ]});
        assert!(matches(&selector, &json!({"a": "b", "c": "1"})));
        assert!(!matches(&selector, &json!({"a": "b", "c": "3"})));
        assert!(!matches(&selector, &json!({"a": "b", "c": "1", "d": ""})));
        assert!(!is_empty(&selector));
        assert!(is_empty(&json!({"matchLabels": {}})));
    }

    #[test]
    fn the_text_is_in_the_order_of_the_keys() {
        let selector = json!({"matchLabels": {"b": "1"}, "matchExpressions": [
            {"key": "c", "operator": "NotIn", "values": ["y", "x"]}, {"key": "a", "operator": "Exists"},
        ]});
        assert_eq!(text(&selector), "a,b=1,c notin (x,y)");
        assert_eq!(text(&Value::Null), "");
    }
}
