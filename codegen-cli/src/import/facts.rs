//! What attributes must add to the schema of a Rust type, so that it becomes another one.

use std::sync::Arc;

use crate::schema::{Schema, overlay};

/// The facts that make `wanted` of `base` when they are laid over it; `None`: nothing that is added does.
pub(super) fn facts(base: &Schema, wanted: &Schema) -> Option<Schema> {
    let facts = difference(base, wanted)?;
    let made = overlay(base.clone(), facts.clone()).ok()?;
    (made == *wanted).then_some(facts)
}

fn difference(base: &Schema, wanted: &Schema) -> Option<Schema> {
    let mut out = Schema::default();
    if base.type_ != wanted.type_ {
        return None;
    }
    // Those of the attribute win.
    macro_rules! replaced {
        ($($field:ident),*) => {
            $(if base.$field != wanted.$field {
                wanted.$field.as_ref()?;
                out.$field.clone_from(&wanted.$field);
            })*
        };
    }
    replaced!(
        description,
        title,
        example,
        default,
        external_docs,
        map_type,
        list_type,
        additional_properties
    );
    // Of those there can be one.
    macro_rules! added {
        ($($field:ident),*) => {
            $(if base.$field != wanted.$field {
                if base.$field.is_some() {
                    return None;
                }
                out.$field.clone_from(&wanted.$field);
            })*
        };
    }
    added!(maximum, minimum, multiple_of, max_length, min_length, max_items, min_items, max_properties);
    added!(min_properties, format, pattern, enum_, not);
    macro_rules! flags {
        ($($field:ident),*) => {
            $(if base.$field && !wanted.$field {
                return None;
            }
            out.$field = wanted.$field && !base.$field;)*
        };
    }
    flags!(exclusive_maximum, exclusive_minimum, unique_items, nullable, embedded_resource, int_or_string);
    flags!(preserve_unknown_fields);
    if base.list_map_keys != wanted.list_map_keys {
        out.list_map_keys.clone_from(&wanted.list_map_keys);
    }
    if !base.required.is_subset(&wanted.required) {
        return None;
    }
    out.required = wanted.required.difference(&base.required).cloned().collect();
    let rules = wanted.validations.strip_suffix(base.validations.as_slice())?;
    out.validations = rules.to_vec();
    for (base, wanted, out) in [
        (&base.any_of, &wanted.any_of, &mut out.any_of),
        (&base.one_of, &wanted.one_of, &mut out.one_of),
        (&base.all_of, &wanted.all_of, &mut out.all_of),
    ] {
        if base != wanted {
            *out = wanted.strip_prefix(base.as_slice())?.to_vec();
        }
    }
    children(base, wanted, &mut out)?;
    Some(out)
}

fn children(base: &Schema, wanted: &Schema, out: &mut Schema) -> Option<()> {
    if base.properties.keys().any(|name| !wanted.properties.contains_key(name)) {
        return None;
    }
    for (name, wanted) in &wanted.properties {
        let added = match base.properties.get(name) {
            Some(base) if Arc::ptr_eq(base, wanted) || base == wanted => continue,
            Some(base) => Arc::new(difference(base, wanted)?),
            None => wanted.clone(),
        };
        out.properties.insert(name.clone(), added);
    }
    out.items = match (&base.items, &wanted.items) {
        (None, None) => None,
        (Some(base), Some(wanted)) if base == wanted => None,
        (Some(base), Some(wanted)) => Some(Box::new(difference(base, wanted)?)),
        (None, Some(wanted)) => Some(wanted.clone()),
        (Some(_), None) => return None,
    };
    Some(())
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
    fn what_is_missing_is_added() {
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
