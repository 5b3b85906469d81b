//! Plans functions that set defaults, before any code is written.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::code;
use crate::ir::{Field, Ir, Resource, RustType, Shape, TypeId};
use crate::schema::{Additional, Schema, Schemas};

pub(super) use files::files;

/// The function that sets the defaults of each type, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    types: BTreeMap<TypeId, Vec<Step>>,
}

/// The treatment of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// It gets this value if it is absent.
    Literal(String, Value),
    /// The type inside has a function.
    Each(String, TypeId),
    /// The type inside has no function; its schema's defaults are set.
    Structural(String, Value),
    /// The object gets the defaults of this schema: those of fields whose JSON form differs from their types,
    /// and of flattened content.
    Object(Value),
}

/// The defaults of all kinds in the package.
pub fn defaults(ir: &Ir, schemas: &Schemas) -> Defaults {
    let (nameable, by_path) = (ir.nameable(), code::by_path(ir));
    let mut reader = Reader { ir, schemas, nameable, by_path, types: BTreeMap::new() };
    for resource in ir.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
    {
        reader.has_function(resource.root, Some(resource));
    }
    let types = reader.types.into_iter().filter(|(_, steps)| !steps.is_empty());
    Defaults { types: types.collect() }
}

impl Defaults {
    /// Whether no type has defaults.
    pub(super) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

struct Reader<'i> {
    ir: &'i Ir,
    schemas: &'i Schemas,
    /// Library names of the crates that the package depends on.
    nameable: BTreeSet<&'i str>,
    by_path: BTreeMap<&'i str, TypeId>,
    /// Types visited so far.
    types: BTreeMap<TypeId, Vec<Step>>,
}

impl Reader<'_> {
    /// Whether code can name the type and the type has defaults to set.
    fn has_function(&mut self, id: TypeId, root: Option<&Resource>) -> bool {
        if let Some(steps) = self.types.get(&id) {
            return !steps.is_empty();
        }
        // A recursive type adds nothing the second time.
        self.types.insert(id, Vec::new());
        let steps = self.steps(id, root).unwrap_or_default();
        let any = !steps.is_empty();
        self.types.insert(id, steps);
        any
    }

    fn steps(&mut self, id: TypeId, root: Option<&Resource>) -> Option<Vec<Step>> {
        let schema = match root {
            Some(resource) => self.schemas.of(resource)?,
            None => self.schemas.of_type(id.0 as usize)?,
        };
        let definition = &self.ir.types[id.0 as usize];
        let Shape::Struct(fields) = &definition.shape else { return None };
        code::is_nameable(definition, &self.nameable).then_some(())?;
        let mut out = Vec::new();
        // The part of the schema that no field covers.
        let mut rest = Schema::default();
        if fields.iter().any(|field| field.flatten) {
            rest.clone_from(schema);
        }
        for field in fields {
            if !field.flatten {
                rest.properties.remove(&field.name);
            }
            self.field(field, schema, &mut out, &mut rest);
        }
        out.extend(below(&rest).map(Step::Object));
        Some(out)
    }

    fn field(&mut self, field: &Field, owner: &Schema, out: &mut Vec<Step>, rest: &mut Schema) {
        let name = code::identifier(&field.rust_name);
        if field.flatten {
            self.flattened(field, name, out, rest);
            return;
        }
        let Some(schema) = owner.properties.get(&field.name) else { return };
        if field.schemaless || !field.rust.public {
            // Functions may make its JSON form; only a value that can be absent has a default.
            let default = schema.default.clone().filter(|_| field.rust.ty.is_option());
            let schema = Schema { default, ..Schema::clone(schema) };
            rest.properties.insert(field.name.clone(), Arc::new(schema));
            return;
        }
        if let Some(default) = schema.default.clone().filter(|_| field.rust.ty.is_option()) {
            out.push(Step::Literal(name.clone(), default));
        }
        let Some(below) = below(schema) else { return };
        out.push(match self.function_of(field) {
            Some(id) => Step::Each(name, id),
            None => Step::Structural(name, below),
        });
    }

    /// Adds a flattened field. A flattened struct's function sets its defaults. Other flattened types have no
    /// function, and an `Option` is `None` while none of its members is set: their defaults are those of the
    /// object.
    fn flattened(&mut self, field: &Field, name: String, out: &mut Vec<Step>, rest: &mut Schema) {
        let Some(id) = self.function_of(field).filter(|_| field.rust.public) else { return };
        out.push(Step::Each(name, id));
        if let (RustType::User(..), Some(schema)) = (&field.rust.ty, self.schemas.of_type(id.0 as usize)) {
            rest.properties.retain(|name, _| !schema.properties.contains_key(name));
        }
    }

    /// The struct in the field, at any depth of containers, if it has a function.
    fn function_of(&mut self, field: &Field) -> Option<TypeId> {
        let id = *self.by_path.get(field.rust.ty.users_type()?)?;
        self.has_function(id, None).then_some(id)
    }
}

/// The defaults in a value of the schema: the parts of the schema with defaults, if there are any.
fn below(schema: &Schema) -> Option<Value> {
    let mut out = Map::new();
    let properties: Map<String, Value> =
        schema.properties.iter().filter_map(|(name, inner)| Some((name.clone(), whole(inner)?))).collect();
    if !properties.is_empty() {
        out.insert("properties".to_owned(), Value::Object(properties));
    }
    if let Some(items) = schema.items.as_deref().and_then(whole) {
        out.insert("items".to_owned(), items);
    }
    if let Some(Additional::Schema(values)) = &schema.additional_properties
        && let Some(values) = whole(values)
    {
        out.insert("additionalProperties".to_owned(), values);
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// Like [`below`], with the schema's own default.
fn whole(schema: &Schema) -> Option<Value> {
    let mut out = below(schema);
    if let Some(default) = &schema.default {
        let out = out.get_or_insert_with(|| json!({}));
        out["default"] = default.clone();
        // Elsewhere, null is not a value.
        if schema.nullable {
            out["nullable"] = true.into();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nullable_is_kept_only_beside_a_default() {
        let of = |nullable| Schema { default: Some(json!(1)), nullable, ..Schema::default() };
        assert_eq!(whole(&of(false)), Some(json!({"default": 1})));
        let list = Schema { items: Some(Box::new(of(true))), nullable: true, ..Schema::default() };
        assert_eq!(whole(&list), Some(json!({"items": {"default": 1, "nullable": true}})));
    }
}
