//! Builds one structural schema for values that satisfy one of several.
//!
//! A structural schema has types, properties and items only once, outside `oneOf` and `anyOf`; branches may
//! only restrict values. So [`shape`] joins the shapes of all alternatives, and each branch keeps the
//! restrictions of its alternative ([`super::branch`]). If the types differ, the type is left out and every
//! branch restricts the kind of value.

use std::collections::BTreeSet;

use super::branch::restrict;
use super::forms;
use kubesmith_apiextensions::schema::{Additional, KEYWORDS, Keyword, Role, Schema};

/// The number of alternatives that a value satisfies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Junction {
    /// Exactly one: the alternatives exclude each other.
    OneOf,
    /// At least one.
    AnyOf,
}

/// A keyword that only some alternatives have, and that branches cannot have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Conflict {
    /// The keyword.
    pub(crate) keyword: &'static str,
    /// The path of properties to it, joined with dots; empty for the alternatives themselves.
    pub(crate) path: String,
}

/// Joins alternatives.
pub(crate) fn union(alternatives: Vec<Schema>, junction: Junction) -> (Schema, Vec<Conflict>) {
    let nullable = alternatives.iter().any(|schema| schema.nullable);
    let mut kept: Vec<Schema> = Vec::with_capacity(alternatives.len());
    for schema in alternatives.into_iter().filter(|schema| !forms::is_unit(schema)) {
        if junction == Junction::OneOf || !kept.contains(&schema) {
            kept.push(schema);
        }
    }
    if kept.is_empty() {
        return (forms::unit(), Vec::new());
    }
    if kept.len() == 1 {
        let mut only = kept.remove(0);
        forms::close(&mut only);
        return (if nullable { forms::nullable(only) } else { only }, Vec::new());
    }
    let mut conflicts = Vec::new();
    let mut out = shape(&kept.iter().collect::<Vec<_>>(), "", &mut conflicts);
    out.nullable |= nullable;
    let branches = kept.iter().map(|schema| restrict(schema, &out)).collect();
    attach(&mut out, branches, junction);
    (out, conflicts)
}

/// Adds the branches in an allowed place, unless they are empty.
fn attach(out: &mut Schema, mut branches: Vec<Schema>, junction: Junction) {
    if junction == Junction::AnyOf {
        if branches.iter().any(Schema::is_empty) {
            return;
        }
        let mut distinct: Vec<Schema> = Vec::new();
        for branch in branches {
            if !distinct.contains(&branch) {
                distinct.push(branch);
            }
        }
        branches = distinct;
    }
    if let (Some(values), None) = (enum_values(&branches), &out.enum_) {
        out.enum_ = Some(values);
        return;
    }
    match junction {
        Junction::OneOf => out.one_of = branches,
        // The place is taken: the API server recognises integers or strings by exactly these two branches.
        Junction::AnyOf if out.int_or_string => {
            if !forms::tells_apart_only(&branches) {
                let kinds = Schema { any_of: std::mem::take(&mut out.any_of), ..Schema::default() };
                out.all_of = vec![kinds, Schema { any_of: branches, ..Schema::default() }];
            }
        }
        Junction::AnyOf => out.any_of = branches,
    }
}

/// The values of branches that only list values.
fn enum_values(branches: &[Schema]) -> Option<Vec<serde_json::Value>> {
    let mut out: Vec<serde_json::Value> = Vec::new();
    for branch in branches {
        let values = branch.enum_.as_ref()?;
        if *branch != (Schema { enum_: Some(values.clone()), ..Schema::default() }) {
            return None;
        }
        for value in values {
            if !out.contains(value) {
                out.push(value.clone());
            }
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The types, properties and items of all alternatives, and all else in common.
fn shape(schemas: &[&Schema], path: &str, conflicts: &mut Vec<Conflict>) -> Schema {
    let Some((first, rest)) = schemas.split_first() else { return Schema::default() };
    if rest.iter().all(|schema| schema == first) {
        return (*first).clone();
    }
    let mut out = forms::joined_type(schemas);
    out.description = schemas.iter().find_map(|schema| schema.description.clone());
    out.nullable = schemas.iter().any(|schema| schema.nullable);
    agreed_values(schemas, &mut out);
    structure(schemas, path, &mut out, conflicts);
    properties(schemas, path, &mut out, conflicts);
    let items: Vec<&Schema> = schemas.iter().filter_map(|schema| schema.items.as_deref()).collect();
    if !items.is_empty() {
        out.items = Some(Box::new(shape(&items, &format!("{path}[]"), conflicts)));
    }
    out
}

/// Moves restrictions that all alternatives share out of the branches.
fn agreed_values(schemas: &[&Schema], out: &mut Schema) {
    let alike = |keyword: &Keyword| schemas.iter().all(|schema| keyword.equal(schema, schemas[0]));
    let is_kept = |keyword: &&Keyword| {
        (keyword.role == Role::Restriction || matches!(keyword.name, "title" | "default")) && alike(keyword)
    };
    KEYWORDS.iter().filter(is_kept).for_each(|keyword| keyword.copy(schemas[0], out));
}

/// Joins keywords that branches cannot have: all alternatives share them, or they are lost.
fn structure(schemas: &[&Schema], path: &str, out: &mut Schema, conflicts: &mut Vec<Conflict>) {
    let mut conflict = |keyword| conflicts.push(Conflict { keyword, path: path.to_string() });
    for keyword in KEYWORDS.iter().filter(|keyword| keyword.role == Role::Apply) {
        let concerns = |schema: &&&Schema| keyword.of.is_some_and(|of| of.fit(schema.type_name()));
        let concerned: Vec<&Schema> = schemas.iter().filter(concerns).copied().collect();
        let Some(first) = concerned.first() else { continue };
        if !concerned.iter().all(|schema| keyword.equal(schema, first)) {
            conflict(keyword.name);
        } else if concerns(&&&*out) {
            keyword.copy(first, out);
        }
    }
    if schemas.iter().all(|schema| schema.validations == schemas[0].validations) {
        out.validations.clone_from(&schemas[0].validations);
    } else {
        conflict("x-kubernetes-validations");
    }
    if schemas.iter().any(|schema| schema.embedded_resource) {
        out.embedded_resource = schemas.iter().all(|schema| schema.embedded_resource);
        out.preserve_unknown_fields = true;
    }
}

/// The properties of all alternatives. A schema with properties cannot describe other values.
fn properties(schemas: &[&Schema], path: &str, out: &mut Schema, conflicts: &mut Vec<Conflict>) {
    let free = forms::free();
    let names: BTreeSet<&String> = schemas.iter().flat_map(|schema| schema.properties.keys()).collect();
    for name in names {
        let found: Vec<&Schema> =
            schemas.iter().filter_map(|schema| forms::value_of(schema, name, &free)).collect();
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let mut property = shape(&found, &below, conflicts);
        if found.len() < schemas.len() {
            // A server would add it to alternatives that lack the field.
            property.default = None;
        }
        out.properties.insert(name.clone(), property.into());
    }
    let open: Vec<&Schema> = schemas.iter().filter_map(|schema| forms::other_values(schema, &free)).collect();
    if open.is_empty() {
        return;
    }
    if out.properties.is_empty() && !out.preserve_unknown_fields && !open.contains(&&free) {
        let values = shape(&open, &format!("{path}.*"), conflicts);
        out.additional_properties = Some(Additional::Schema(Box::new(values)));
    } else {
        out.preserve_unknown_fields = true;
    }
}
