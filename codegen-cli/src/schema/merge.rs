//! Joins what a type says with what a field of that type adds, as controller-gen's flattening of
//! `allOf: [type, field]` does.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::props::{Additional, Schema};

/// Two parts of a schema that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the type is `{first}` and `{second}` at once")]
pub struct TypeConflict {
    /// From the type definition.
    pub first: String,
    /// From the attribute.
    pub second: String,
}

/// Lays `over` (a field's facts) on `base` (its type's schema).
///
/// Description, title, example and default of `over` win. Limits that both have stay side by side as `allOf` branches,
/// the type's first, and so do patterns and formats that differ. Of two enums the values remain that both allow. Rules of
/// `over` come first.
///
/// # Errors
/// When both name different types.
pub fn overlay(mut base: Schema, over: Schema) -> Result<Schema, TypeConflict> {
    let mut clash = (Schema::default(), Schema::default());
    if let (Some(first), Some(second)) = (&base.type_, &over.type_)
        && first != second
    {
        return Err(TypeConflict { first: first.clone(), second: second.clone() });
    }
    prefer(&mut base.type_, over.type_);
    prefer(&mut base.description, over.description);
    prefer(&mut base.title, over.title);
    prefer(&mut base.example, over.example);
    prefer(&mut base.default, over.default);
    prefer(&mut base.external_docs, over.external_docs);
    prefer(&mut base.map_type, over.map_type);
    macro_rules! constraint {
        ($join:ident: $($field:ident),*) => {
            $($join(&mut base.$field, over.$field, &mut clash.0.$field, &mut clash.1.$field);)*
        };
    }
    constraint!(join: maximum, minimum, multiple_of, max_length, min_length, max_items, min_items);
    constraint!(join_unequal: max_properties, min_properties, format, pattern);
    base.enum_ = match (base.enum_.take(), over.enum_) {
        (Some(mine), Some(theirs)) => Some(mine.into_iter().filter(|value| theirs.contains(value)).collect()),
        (mine, theirs) => theirs.or(mine),
    };
    prefer(&mut base.list_type, over.list_type);
    if !over.list_map_keys.is_empty() {
        base.list_map_keys = over.list_map_keys;
    }
    base.exclusive_maximum |= over.exclusive_maximum;
    base.exclusive_minimum |= over.exclusive_minimum;
    base.unique_items |= over.unique_items;
    base.nullable |= over.nullable;
    base.embedded_resource |= over.embedded_resource;
    base.int_or_string |= over.int_or_string;
    base.preserve_unknown_fields |= over.preserve_unknown_fields;
    base.required.extend(over.required);
    let mut validations = over.validations;
    validations.append(&mut base.validations);
    base.validations = validations;
    overlay_children(&mut base, over.properties, over.items, over.additional_properties)?;
    for (mine, theirs) in
        [(&mut base.any_of, over.any_of), (&mut base.one_of, over.one_of), (&mut base.all_of, over.all_of)]
    {
        if mine.is_empty() {
            *mine = theirs;
        } else if *mine != theirs {
            mine.extend(theirs);
        }
    }
    match (&base.not, over.not) {
        (Some(_), Some(not)) => base.all_of.push(Schema { not: Some(not), ..Schema::default() }),
        (None, not) => base.not = not,
        (Some(_), None) => {}
    }
    if !clash.0.is_empty() {
        base.all_of.extend([clash.0, clash.1]);
    }
    Ok(base)
}

fn overlay_children(
    base: &mut Schema,
    properties: BTreeMap<String, Arc<Schema>>,
    items: Option<Box<Schema>>,
    additional: Option<Additional>,
) -> Result<(), TypeConflict> {
    for (name, schema) in properties {
        let merged = match base.properties.remove(&name) {
            Some(existing) => overlay(Arc::unwrap_or_clone(existing), Arc::unwrap_or_clone(schema))?.into(),
            None => schema,
        };
        base.properties.insert(name, merged);
    }
    if let Some(items) = items {
        base.items = Some(Box::new(match base.items.take() {
            Some(existing) => overlay(*existing, *items)?,
            None => *items,
        }));
    }
    base.additional_properties = additional.or(base.additional_properties.take());
    Ok(())
}

fn prefer<T>(base: &mut Option<T>, over: Option<T>) {
    if over.is_some() {
        *base = over;
    }
}

/// Joins a constraint; one that both sides have moves to the branches, even if it is the same: of most limits
/// controller-gen compares where they are kept, not what they are.
fn join<T>(base: &mut Option<T>, over: Option<T>, first: &mut Option<T>, second: &mut Option<T>) {
    match (base.take(), over) {
        (Some(mine), Some(theirs)) => {
            *first = Some(mine);
            *second = Some(theirs);
        }
        (mine, theirs) => *base = theirs.or(mine),
    }
}

/// Joins a constraint of which equal ones collapse.
fn join_unequal<T: PartialEq>(
    base: &mut Option<T>,
    over: Option<T>,
    first: &mut Option<T>,
    second: &mut Option<T>,
) {
    if over != *base {
        join(base, over, first, second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn schema(value: Value) -> Schema {
        serde_json::from_value(value).unwrap()
    }

    #[track_caller]
    fn check(base: Value, over: Value, expected: &Value) {
        let merged = overlay(schema(base), schema(over)).unwrap();
        assert_eq!(merged.to_value(), *expected);
    }

    #[test]
    fn a_fields_words_replace_the_types() {
        check(
            json!({"type": "string", "description": "type", "title": "t"}),
            json!({"description": "field"}),
            &json!({"type": "string", "description": "field", "title": "t"}),
        );
    }

    #[test]
    fn differing_constraints_stay_as_branches() {
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 100, "exclusiveMaximum": true}),
            json!({"minimum": 5, "maximum": 10}),
            &json!({"type": "integer", "exclusiveMaximum": true,
                "allOf": [{"minimum": 1, "maximum": 100}, {"minimum": 5, "maximum": 10}]}),
        );
        check(
            json!({"maxLength": 10, "pattern": "x$", "allOf": [{"minLength": 3}, {"minLength": 4}]}),
            json!({"minLength": 2, "maxLength": 20, "pattern": "^a"}),
            &json!({"minLength": 2, "allOf": [{"minLength": 3}, {"minLength": 4},
                {"maxLength": 10, "pattern": "x$"}, {"maxLength": 20, "pattern": "^a"}]}),
        );
        check(json!({"pattern": "a"}), json!({"pattern": "a"}), &json!({"pattern": "a"}));
        let twice = json!({"allOf": [{"minLength": 1}, {"minLength": 1}]});
        check(json!({"minLength": 1}), json!({"minLength": 1}), &twice);
    }

    #[test]
    fn a_field_narrows_the_values_of_its_type() {
        check(json!({"enum": ["a", "b", "c"]}), json!({"enum": ["c", "a"]}), &json!({"enum": ["a", "c"]}));
    }

    #[test]
    fn a_fields_rules_come_first() {
        check(
            json!({"x-kubernetes-validations": [{"rule": "type"}]}),
            json!({"x-kubernetes-validations": [{"rule": "field"}]}),
            &json!({"x-kubernetes-validations": [{"rule": "field"}, {"rule": "type"}]}),
        );
    }

    #[test]
    fn two_types_are_a_conflict() {
        assert!(overlay(Schema::of_type("string"), Schema::of_type("integer")).is_err());
    }
}
