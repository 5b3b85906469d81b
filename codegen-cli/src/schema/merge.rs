//! Joins the schema of a type with the facts of a field, as controller-gen's flattening of `allOf: [type,
//! field]` does, and computes the facts that a field must add. The table of keywords has the rule for each
//! keyword.

use std::sync::Arc;

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Kind, Merge, Schema};

use crate::ir::Older;

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
/// # Errors
/// Returns an error if they name different types.
pub fn overlay(base: Schema, over: Schema) -> Result<Schema, TypeConflict> {
    overlay_with(Older::default(), base, over)
}

/// Like [`overlay`], as an older release of controller-gen does.
///
/// # Errors
/// Returns an error if they name different types.
pub(super) fn overlay_with(older: Older, mut base: Schema, mut over: Schema) -> Result<Schema, TypeConflict> {
    if let (Some(first), Some(second)) = (&base.type_, &over.type_)
        && first != second
    {
        return Err(TypeConflict { first: first.clone(), second: second.clone() });
    }
    let mut apart = [Schema::default(), Schema::default()];
    let is_kept = |keyword: &Keyword| older.keeps_equal_counts && keyword.kind == Kind::Count;
    for keyword in KEYWORDS {
        let is_both = keyword.is_set(&base);
        match keyword.merge {
            _ if !keyword.is_set(&over) => {}
            Merge::Intersect if is_both && older.keeps_both_enums => {
                move_apart(keyword, &mut base, &mut over, &mut apart);
            }
            Merge::Apart if is_both => move_apart(keyword, &mut base, &mut over, &mut apart),
            Merge::ApartIfUnequal if is_both && keyword.equal(&base, &over) && !is_kept(keyword) => {}
            Merge::ApartIfUnequal if is_both => move_apart(keyword, &mut base, &mut over, &mut apart),
            Merge::Prefer | Merge::Either | Merge::Apart | Merge::ApartIfUnequal => {
                keyword.take(&mut over, &mut base);
            }
            Merge::Intersect | Merge::Before | Merge::Union | Merge::Append | Merge::Own => {}
        }
    }
    join_lists(&mut base, &mut over);
    join_children(older, &mut base, &mut over)?;
    match over.not.take() {
        Some(not) if base.not.is_some() => base.all_of.push(Schema { not: Some(not), ..Schema::default() }),
        Some(not) => base.not = Some(not),
        None => {}
    }
    if !apart[0].is_empty() {
        base.all_of.extend(apart);
    }
    Ok(base)
}

/// Moves a constraint in both to the branches, even if it is equal: for most limits, controller-gen compares
/// pointers, not values.
fn move_apart(keyword: &Keyword, base: &mut Schema, over: &mut Schema, apart: &mut [Schema; 2]) {
    keyword.take(base, &mut apart[0]);
    keyword.take(over, &mut apart[1]);
}

/// Joins the keywords whose values are lists.
fn join_lists(base: &mut Schema, over: &mut Schema) {
    base.enum_ = match (base.enum_.take(), over.enum_.take()) {
        (Some(mine), Some(theirs)) => Some(mine.into_iter().filter(|value| theirs.contains(value)).collect()),
        (mine, theirs) => theirs.or(mine),
    };
    base.required.extend(std::mem::take(&mut over.required));
    let mut validations = std::mem::take(&mut over.validations);
    validations.append(&mut base.validations);
    base.validations = validations;
    for (mine, theirs) in [
        (&mut base.any_of, &mut over.any_of),
        (&mut base.one_of, &mut over.one_of),
        (&mut base.all_of, &mut over.all_of),
    ] {
        if mine != theirs {
            mine.append(theirs);
        }
    }
}

fn join_children(older: Older, base: &mut Schema, over: &mut Schema) -> Result<(), TypeConflict> {
    for (name, schema) in std::mem::take(&mut over.properties) {
        let merged = match base.properties.remove(&name) {
            Some(existing) => {
                overlay_with(older, Arc::unwrap_or_clone(existing), Arc::unwrap_or_clone(schema))?.into()
            }
            None => schema,
        };
        base.properties.insert(name, merged);
    }
    if let Some(items) = over.items.take() {
        base.items = Some(Box::new(match base.items.take() {
            Some(existing) => overlay_with(older, *existing, *items)?,
            None => *items,
        }));
    }
    Ok(())
}

/// The smallest schema that [`overlay`] turns `base` into `wanted` with; `None` if additions alone cannot.
pub fn difference(base: &Schema, wanted: &Schema) -> Option<Schema> {
    if base.type_ != wanted.type_ {
        return None;
    }
    let mut out = Schema::default();
    for keyword in KEYWORDS.iter().filter(|keyword| !keyword.equal(base, wanted)) {
        match keyword.merge {
            // Lists of keys may also be missing, as their absence changes nothing.
            Merge::Prefer if keyword.kind != Kind::Texts && !keyword.is_set(wanted) => return None,
            Merge::Either if keyword.is_set(base) => return None,
            Merge::Apart | Merge::ApartIfUnequal | Merge::Intersect if keyword.is_set(base) => return None,
            Merge::Prefer | Merge::Either | Merge::Apart | Merge::ApartIfUnequal | Merge::Intersect => {
                keyword.copy(wanted, &mut out);
            }
            Merge::Before | Merge::Union | Merge::Append | Merge::Own => {}
        }
    }
    if base.not != wanted.not {
        if base.not.is_some() {
            return None;
        }
        out.not.clone_from(&wanted.not);
    }
    if !base.required.iter().all(|name| wanted.required.contains(name)) {
        return None;
    }
    out.required = wanted.required.iter().filter(|name| !base.required.contains(name)).cloned().collect();
    out.validations = wanted.validations.strip_suffix(base.validations.as_slice())?.to_vec();
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
    fn check(base: Value, over: Value, expected: &Value) {
        let merged = overlay(schema(base), schema(over)).unwrap();
        assert_eq!(merged.to_value(), *expected);
    }

    #[test]
    fn description_of_a_field_replaces_that_of_its_type() {
        check(
            json!({"type": "string", "description": "type", "title": "t"}),
            json!({"description": "field"}),
            &json!({"type": "string", "description": "field", "title": "t"}),
        );
    }

    #[test]
    fn differing_constraints_become_branches() {
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
    fn equal_counts_stand_twice_as_in_older_releases() {
        let count = || schema(json!({"maxProperties": 1, "pattern": "a"}));
        let older = Older { keeps_equal_counts: true, ..Older::default() };
        let merged = overlay_with(older, count(), count()).unwrap();
        let twice = json!({"pattern": "a", "allOf": [{"maxProperties": 1}, {"maxProperties": 1}]});
        assert_eq!(merged.to_value(), twice);
        assert_eq!(overlay(count(), count()).unwrap().to_value(), count().to_value());
    }

    #[test]
    fn enum_of_a_field_narrows_that_of_its_type() {
        check(json!({"enum": ["a", "b", "c"]}), json!({"enum": ["c", "a"]}), &json!({"enum": ["a", "c"]}));
    }

    #[test]
    fn rules_of_a_field_precede_those_of_its_type() {
        check(
            json!({"x-kubernetes-validations": [{"rule": "type"}]}),
            json!({"x-kubernetes-validations": [{"rule": "field"}]}),
            &json!({"x-kubernetes-validations": [{"rule": "field"}, {"rule": "type"}]}),
        );
    }

    #[test]
    fn differing_json_types_are_a_conflict() {
        assert!(overlay(Schema::of_type("string"), Schema::of_type("integer")).is_err());
    }
}
