//! The types of objects as expressions of policies see them, for type checks.
//!
//! Source: `SchemaDeclType` of apiserver's pkg/cel/common/schemas.go.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubesmith_apiextensions::admission::custom_object;
use kubesmith_apiextensions::cel::{ObjectType, Type, escape};

use crate::registry::{Behaviour, ResourceDef};
use crate::types::{self, Shape};

/// The depth to which types are declared; deeper objects accept any field. No type of the API is as deep.
const DEPTH: usize = 32;

/// The type of the objects of a resource.
pub(crate) fn object_type(def: &ResourceDef) -> Type {
    match &def.behaviour {
        Behaviour::BuiltIn(_) => message_type(types::of_kind(&def.api_version(), &def.kind), &def.kind),
        Behaviour::Custom(custom) => custom_object(custom.structural(), &def.kind, &Type::Timestamp),
    }
}

fn message_type(message: Option<&'static types::Type>, kind: &str) -> Type {
    match message {
        Some(message) => resource(fields(message, 0), kind),
        None => Type::Dyn,
    }
}

fn resource(mut fields: BTreeMap<String, Type>, kind: &str) -> Type {
    for name in ["apiVersion", "kind"] {
        fields.insert(name.to_owned(), Type::String);
    }
    Type::Object(Arc::new(ObjectType { name: kind.to_owned(), fields }))
}

fn fields(message: &types::Type, depth: usize) -> BTreeMap<String, Type> {
    let typed = message.members.values().filter_map(|field| {
        let of = named_type(field.of, depth)?;
        let of = match field.shape {
            Shape::List => Type::list(of),
            Shape::Map => Type::map(Type::String, of),
            Shape::One | Shape::Inline => of,
        };
        Some((escape(field.name)?, of))
    });
    typed.collect()
}

/// The type of a name in the table of types. Quantities have no type in the schema, so their fields are not declared.
fn named_type(name: &str, depth: usize) -> Option<Type> {
    let object = |fields| Type::Object(Arc::new(ObjectType { name: name.to_owned(), fields }));
    Some(match name {
        "Quantity" => return None,
        "string" | "meta.Duration" => Type::String,
        "strings" => Type::list(Type::String),
        "bool" => Type::Bool,
        "int32" | "int64" => Type::Int,
        "double" => Type::Double,
        "bytes" => Type::Bytes,
        "meta.Time" | "meta.MicroTime" => Type::Timestamp,
        "RawExtension" | "meta.FieldsV1" => object(BTreeMap::new()),
        _ => match types::find(name).filter(|_| depth < DEPTH) {
            Some(message) => object(fields(message, depth + 1)),
            None => Type::Dyn,
        },
    })
}
