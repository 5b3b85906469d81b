//! Makes a branch of `oneOf` or `anyOf` from an alternative: the restrictions that the common shape lacks.

use super::forms;
use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Number, Role, Schema};

/// The branch of the alternative `schema` beside the common shape `shape`.
pub(super) fn restrict(schema: &Schema, shape: &Schema) -> Schema {
    if schema == shape {
        return Schema::default();
    }
    let mut out = values(schema, shape);
    properties(schema, shape, &mut out);
    if let (Some(items), Some(common)) = (&schema.items, &shape.items) {
        let items = restrict(items, common);
        out.items = (!items.is_empty()).then(|| Box::new(items));
    }
    junctions(schema, shape, &mut out);
    kind(schema, shape, &mut out);
    if schema.nullable { forms::beside_null(out) } else { out }
}

/// The restrictions of the value itself.
fn values(schema: &Schema, shape: &Schema) -> Schema {
    let mut out = Schema::default();
    let is_own = |keyword: &&Keyword| match keyword.name {
        // API servers refuse it everywhere.
        "uniqueItems" => false,
        // Formats of numbers need a type, which a branch does not have.
        "format" => schema.is_type("string"),
        "required" => true,
        _ => keyword.role == Role::Restriction,
    };
    let differs = |keyword: &&Keyword| is_own(keyword) && !keyword.equal(schema, shape);
    KEYWORDS.iter().filter(differs).for_each(|keyword| keyword.copy(schema, &mut out));
    out
}

fn properties(schema: &Schema, shape: &Schema, out: &mut Schema) {
    let free = forms::free();
    for (name, common) in &shape.properties {
        let Some(own) = forms::value_of(schema, name, &free) else { continue };
        let property = restrict(own, common);
        if !property.is_empty() {
            out.properties.insert(name.clone(), property.into());
        }
    }
}

fn junctions(schema: &Schema, shape: &Schema, out: &mut Schema) {
    let common = |branch: &&Schema| !shape.all_of.contains(branch);
    out.all_of.extend(schema.all_of.iter().filter(common).map(untyped));
    if schema.one_of != shape.one_of {
        out.one_of.clone_from(&schema.one_of);
    }
    if schema.any_of != shape.any_of && !schema.int_or_string {
        out.any_of.clone_from(&schema.any_of);
    }
    if schema.not != shape.not {
        out.not.clone_from(&schema.not);
    }
}

/// A branch that separates integers and strings by their types, converted to one by values.
fn untyped(branch: &Schema) -> Schema {
    let mut out = branch.clone();
    for inner in &mut out.any_of {
        if let Some(type_) = inner.type_.take() {
            *inner = forms::of_kind(&type_);
        }
    }
    out
}

/// Adds the kind of the alternative's values, if the common shape leaves it open.
fn kind(schema: &Schema, shape: &Schema, out: &mut Schema) {
    if schema.type_ == shape.type_ && schema.int_or_string == shape.int_or_string {
        return;
    }
    if schema.int_or_string {
        let kinds = vec![forms::of_kind("integer"), forms::of_kind("string")];
        add(out, Schema { any_of: kinds, ..Schema::default() });
        return;
    }
    let Some(type_) = schema.type_.as_deref() else { return };
    if type_ == "integer" && shape.type_.as_deref() == Some("number") {
        out.multiple_of.get_or_insert_with(|| Number::from(1));
    } else if out.enum_.is_none() {
        add(out, forms::of_kind(type_));
    }
}

/// Adds restrictions, in `allOf` if both have the same keyword.
fn add(out: &mut Schema, more: Schema) {
    let taken = (out.not.is_some() && more.not.is_some())
        || (!out.any_of.is_empty() && !more.any_of.is_empty())
        || (out.multiple_of.is_some() && more.multiple_of.is_some());
    if taken {
        out.all_of.push(more);
        return;
    }
    out.not = more.not.or(out.not.take());
    out.multiple_of = more.multiple_of.or(out.multiple_of.take());
    out.enum_ = more.enum_.or(out.enum_.take());
    if !more.any_of.is_empty() {
        out.any_of = more.any_of;
    }
}
