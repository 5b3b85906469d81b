//! The `allOf`, `anyOf`, `oneOf` and `not` of flattened parts.

use kubesmith_apiextensions::schema::Schema;

/// The schema of a flattened `Option`: no fields, or all of the object's.
pub(super) fn optional(mut schema: Schema) -> Schema {
    schema.required.clear();
    let mut junctions = take_junctions(&mut schema);
    if junctions.is_empty() {
        return schema;
    }
    let only_any_of = Schema { any_of: junctions.any_of.clone(), ..Schema::default() } == junctions;
    schema.any_of = if only_any_of { std::mem::take(&mut junctions.any_of) } else { vec![junctions] };
    schema.any_of.push(Schema::default());
    schema
}

pub(super) fn take_junctions(schema: &mut Schema) -> Schema {
    Schema {
        all_of: std::mem::take(&mut schema.all_of),
        any_of: std::mem::take(&mut schema.any_of),
        one_of: std::mem::take(&mut schema.one_of),
        not: schema.not.take(),
        ..Schema::default()
    }
}

/// Adds branches that apply in addition to existing ones.
pub(super) fn add_junctions(schema: &mut Schema, junctions: Schema) {
    let taken = (!schema.one_of.is_empty() && !junctions.one_of.is_empty())
        || (!schema.any_of.is_empty() && !junctions.any_of.is_empty())
        || (schema.not.is_some() && junctions.not.is_some());
    if taken {
        schema.all_of.push(junctions);
        return;
    }
    schema.all_of.extend(junctions.all_of);
    schema.any_of.extend(junctions.any_of);
    schema.one_of.extend(junctions.one_of);
    schema.not = schema.not.take().or(junctions.not);
}
