//! Compares the contents of objects: fields, required ones, defaults, and the treatment of unknown ones.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::structural::{Additional, MapType, Schema};

use super::ChangeCode;
use super::schema::{Context, Types, Walk, brief, contrasted, guards, guards_field};

/// A field as its schema describes it.
#[derive(Clone, Copy)]
enum Field<'a> {
    Known(&'a Schema),
    /// Any value is kept.
    Free,
    /// Any value is kept, but objects lose all fields: `additionalProperties: true`.
    Emptied,
    /// The field is dropped.
    Dropped,
}

impl<'a> Field<'a> {
    /// Returns the field for values without a property.
    fn other(schema: &'a Schema) -> Self {
        match &schema.additional_properties {
            Some(Additional::Schema(all)) => Field::Known(all),
            Some(Additional::Allowed(true)) => Field::Emptied,
            _ if schema.preserve_unknown_fields => Field::Free,
            _ => Field::Dropped,
        }
    }

    fn named(schema: &'a Schema, name: &str) -> Self {
        schema.properties.get(name).map_or_else(|| Self::other(schema), |known| Field::Known(known))
    }
}

/// Compares two schemas of objects.
pub(super) fn object(walk: &mut Walk<'_>, old: &Schema, new: &Schema, context: Context<'_>) {
    if old.effective_map_type() != new.effective_map_type() {
        let word = |schema: &Schema| match schema.effective_map_type() {
            MapType::Atomic => "atomic",
            MapType::Granular => "granular",
        };
        let message = format!("map type {} became {}", word(old), word(new));
        walk.add_at(ChangeCode::MapTypeChanged, &["x-kubernetes-map-type"], message);
    }
    let resource = (context.resource.0 || old.embedded_resource, context.resource.1 || new.embedded_resource);
    let names: BTreeSet<&String> = old.properties.keys().chain(new.properties.keys()).collect();
    for name in names {
        if (resource.0 || resource.1) && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            let guarded = context.guarded || guards(new);
            walk.field(name, |walk| standard(walk, name, old, new, guarded));
            continue;
        }
        let (before, after) = (Field::named(old, name), Field::named(new, name));
        let guarded = context.guarded || guards_field(new, name) || context.keys.contains(name);
        let is_required = new.required.contains(name);
        walk.field(name, |walk| field(walk, before, after, guarded, is_required));
    }
    required(walk, old, new, context);
    others(walk, old, new, context.guarded || guards(new));
}

/// Reports whether pruning drops the field, so that no object has it.
pub(super) fn drops(schema: &Schema, name: &str) -> bool {
    let is_standard = schema.embedded_resource || matches!(name, "apiVersion" | "kind" | "metadata");
    !is_standard && matches!(Field::named(schema, name), Field::Dropped)
}

/// Compares the schemas of one field, or of all unnamed ones.
fn field(walk: &mut Walk<'_>, old: Field<'_>, new: Field<'_>, guarded: bool, is_required: bool) {
    match (old, new) {
        (Field::Known(old), Field::Known(new)) => {
            default(walk, old, new, guarded, is_required);
            let resource = (old.embedded_resource, new.embedded_resource);
            walk.node(old, new, Context { guarded, resource, keys: &[] });
        }
        (Field::Known(_), Field::Free) => {
            let message = "the field has no schema any more; unknown fields are kept";
            walk.add(ChangeCode::FieldUndeclared, message);
        }
        (Field::Known(old), Field::Emptied) if !holds_fields(old) => {
            walk.add(ChangeCode::FieldUndeclared, "the field has no schema any more; it is kept");
        }
        (Field::Known(_), Field::Emptied) => {
            walk.add(ChangeCode::FieldRemoved, "nested fields lose their schema and are dropped");
        }
        (Field::Known(_), Field::Dropped) => {
            walk.add(ChangeCode::FieldRemoved, "the field is gone");
        }
        (Field::Free | Field::Emptied, Field::Known(new)) if !admits_anything(new) => {
            walk.add(ChangeCode::FieldDeclared, format!("the field was free and is now {}", article(new)));
        }
        (Field::Dropped, Field::Known(new)) => {
            walk.add(ChangeCode::FieldAdded, format!("the field is new: {}", article(new)));
            if guarded && let Some(value) = &new.default {
                let message = format!("the new field is put into objects as {}", brief(value));
                walk.add_at(ChangeCode::DefaultAddedUnderRule, &["default"], message);
            }
        }
        // Unnamed fields; `others` reports them.
        _ => {}
    }
}

/// Reports whether values may be objects, or contain some.
fn holds_fields(schema: &Schema) -> bool {
    let types = Types::of(schema);
    types.has(Types::OBJECT) || types.has(Types::ARRAY)
}

/// Reports whether the schema keeps and accepts every value.
fn admits_anything(schema: &Schema) -> bool {
    let bare = Schema {
        description: None,
        title: None,
        nullable: false,
        preserve_unknown_fields: false,
        ..schema.clone()
    };
    schema.preserve_unknown_fields && schema.nullable && bare == Schema::default()
}

fn article(schema: &Schema) -> &str {
    match schema.type_name() {
        _ if schema.int_or_string => "an integer or a string",
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "a boolean",
        "array" => "a list",
        "object" => "an object",
        _ => "any value",
    }
}

/// Compares `apiVersion`, `kind` and `metadata` of a resource, which exist even without a schema, and are never pruned.
fn standard(walk: &mut Walk<'_>, name: &str, old: &Schema, new: &Schema, guarded: bool) {
    let (old, new) = (declared(name, old), declared(name, new));
    walk.node(&old, &new, Context { guarded, resource: (false, false), keys: &[] });
}

fn declared<'a>(name: &str, schema: &'a Schema) -> Cow<'a, Schema> {
    match (name, schema.properties.get(name)) {
        ("metadata", found) => {
            let mut out = found.map_or_else(|| Schema::of_type("object"), |found| found.as_ref().clone());
            out.preserve_unknown_fields = true;
            for name in ["name", "generateName"] {
                out.properties.entry(name.to_owned()).or_insert_with(|| Schema::of_type("string").into());
            }
            Cow::Owned(out)
        }
        (_, Some(found)) => Cow::Borrowed(found.as_ref()),
        (_, None) => Cow::Owned(Schema::of_type("string")),
    }
}

fn required(walk: &mut Walk<'_>, old: &Schema, new: &Schema, context: Context<'_>) {
    let is_root = context.resource == (true, true) && !new.embedded_resource;
    for name in new.required.iter().filter(|name| !old.required.contains(name)) {
        let is_standard = matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        let has_default = new.properties.get(name).is_some_and(|field| field.default.is_some());
        let (code, message) = if is_root && is_standard {
            (ChangeCode::ConstraintChanged, "the field is required; every object has it")
        } else if has_default {
            (ChangeCode::RequiredAddedWithDefault, "the field is required, and has a default")
        } else {
            (ChangeCode::RequiredAdded, "the field is required, and has no default")
        };
        walk.field(name, |walk| walk.add(code, message));
    }
    let gone = old.required.iter().filter(|name| !new.required.contains(name));
    for name in gone.filter(|name| new.properties.contains_key(*name)) {
        let message = "the field is not required any more";
        walk.field(name, |walk| walk.add(ChangeCode::RequiredRemoved, message));
    }
}

/// Compares the treatment of unnamed fields.
fn others(walk: &mut Walk<'_>, old: &Schema, new: &Schema, guarded: bool) {
    let (before, after) = (Field::other(old), Field::other(new));
    let keyword = &["x-kubernetes-preserve-unknown-fields"];
    match (before, after) {
        (Field::Free, Field::Dropped) => {
            let message = "unknown fields are dropped";
            walk.add_at(ChangeCode::PruningAdded, keyword, message);
        }
        (Field::Free, Field::Emptied) => {
            let message = "fields of unknown objects are dropped";
            walk.add_at(ChangeCode::PruningAdded, keyword, message);
        }
        (Field::Dropped | Field::Emptied, Field::Free) => {
            walk.add_at(ChangeCode::PruningRemoved, keyword, "unknown fields are kept");
        }
        (Field::Dropped, Field::Emptied) => {
            let message = "unknown fields are kept, without those below them";
            walk.add_at(ChangeCode::PruningRemoved, &["additionalProperties"], message);
        }
        (Field::Emptied, Field::Dropped) => {
            let message = "unknown fields are dropped";
            walk.add_at(ChangeCode::PruningAdded, &["additionalProperties"], message);
        }
        (before, after) => walk.values(|walk| field(walk, before, after, guarded, false)),
    }
}

/// Compares the defaults of a field.
pub(super) fn default(walk: &mut Walk<'_>, old: &Schema, new: &Schema, guarded: bool, is_required: bool) {
    let below = &["default"];
    match (&old.default, &new.default) {
        (None, Some(value)) if guarded => {
            let message =
                format!("the default {} is new, and something around it may refuse it", brief(value));
            walk.add_at(ChangeCode::DefaultAddedUnderRule, below, message);
        }
        (None, Some(value)) => {
            walk.add_at(ChangeCode::DefaultAdded, below, format!("the default {} is new", brief(value)));
        }
        (Some(value), None) => {
            let code = match is_required {
                true => ChangeCode::DefaultRemovedFromRequired,
                false => ChangeCode::DefaultRemoved,
            };
            walk.add_at(code, below, format!("the default {} is gone", brief(value)));
        }
        (Some(before), Some(after)) if before != after => {
            let [before, after] = contrasted(&before.to_string(), &after.to_string(), 60);
            let message = format!("the default {before} became {after}");
            walk.add_at(ChangeCode::DefaultChanged, below, message);
        }
        _ => {}
    }
}
