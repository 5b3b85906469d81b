//! Computes the facts that attributes add to the schema of a Rust type to get another schema.

use crate::schema::{Schema, difference, overlay};

/// Returns the facts that turn `base` into `wanted`, or `None` if additions alone cannot.
pub(super) fn facts(base: &Schema, wanted: &Schema) -> Option<Schema> {
    let facts = difference(base, wanted)?;
    let made = overlay(base.clone(), facts.clone()).ok()?;
    (made == *wanted).then_some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn schema(value: Value) -> Schema {
        serde_json::from_value(value).unwrap()
    }

    #[track_caller]
    fn check(base: Value, wanted: Value, expected: Option<&Value>) {
        let found = facts(&schema(base), &schema(wanted)).map(|facts| facts.to_value());
        assert_eq!(found.as_ref(), expected);
    }

    #[test]
    fn missing_keywords_are_added_to_a_known_schema() {
        let text = json!({"type": "string", "description": "a"});
        check(
            text.clone(),
            json!({"type": "string", "description": "b", "maxLength": 3}),
            Some(&json!({"description": "b", "maxLength": 3})),
        );
        check(text, json!({"type": "string"}), None);
        check(json!({"type": "string", "maxLength": 2}), json!({"type": "string", "maxLength": 3}), None);
        let list = |items: Value| json!({"type": "array", "items": items});
        check(
            list(json!({"type": "string"})),
            list(json!({"type": "string", "pattern": "a"})),
            Some(&json!({"items": {"pattern": "a"}})),
        );
        check(list(json!({"type": "string"})), list(json!({"type": "integer"})), None);
        let two = json!({"oneOf": [{"required": ["a"]}], "not": {"required": ["b"]}});
        check(json!({}), two.clone(), Some(&two));
    }
}
