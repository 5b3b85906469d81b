//! Decides which types fit each other, and infers type parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::types::Type;

/// The types of parameters, by their names.
pub(super) type Mappings = BTreeMap<String, Type>;

/// Types are followed to this depth.
const MAX_TYPE_DEPTH: usize = 64;

/// Replaces type parameters by their types. With `free_to_dyn`, unknown ones become dyn.
pub(super) fn substitute(mappings: &Mappings, type_: &Type, free_to_dyn: bool) -> Type {
    replace(mappings, type_, free_to_dyn, 0)
}

fn replace(mappings: &Mappings, type_: &Type, free_to_dyn: bool, depth: usize) -> Type {
    if depth > MAX_TYPE_DEPTH {
        return Type::Dyn;
    }
    let go = |t: &Type| replace(mappings, t, free_to_dyn, depth + 1);
    match type_ {
        Type::Param(name) => match mappings.get(name) {
            Some(known) => go(known),
            None if free_to_dyn => Type::Dyn,
            None => type_.clone(),
        },
        Type::List(item) => Type::list(go(item)),
        Type::Map(key, value) => Type::map(go(key), go(value)),
        Type::Optional(inner) => Type::optional(go(inner)),
        Type::Type(inner) => Type::Type(Arc::new(go(inner))),
        other => other.clone(),
    }
}

fn occurs(name: &str, type_: &Type, mappings: &Mappings) -> bool {
    match substitute(mappings, type_, false) {
        Type::Param(other) => other == name,
        Type::List(t) | Type::Optional(t) | Type::Type(t) => occurs(name, &t, mappings),
        Type::Map(k, v) => occurs(name, &k, mappings) || occurs(name, &v, mappings),
        _ => false,
    }
}

/// Reports whether a value of type `from` is assignable to `to`. Records the types of parameters.
pub(super) fn assignable(mappings: &mut Mappings, to: &Type, from: &Type) -> bool {
    let to = substitute(mappings, to, false);
    let from = substitute(mappings, from, false);
    match (&to, &from) {
        (Type::Param(a), Type::Param(b)) if a == b => true,
        (Type::Param(name), other) | (other, Type::Param(name)) => {
            if occurs(name, other, mappings) {
                return false;
            }
            mappings.insert(name.clone(), other.clone());
            true
        }
        (a, b) if a.is_dyn_or_error() || b.is_dyn_or_error() => true,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => assignable(mappings, a, b),
        (Type::Map(ak, av), Type::Map(bk, bv)) => {
            assignable(mappings, ak, bk) && assignable(mappings, av, bv)
        }
        (Type::Type(_), Type::Type(_)) => true,
        // Null stands for absent objects, optionals and the like.
        (Type::Null, other) | (other, Type::Null) => matches!(
            other,
            Type::Null
                | Type::Object(_)
                | Type::Message(_)
                | Type::Optional(_)
                | Type::Opaque(_)
                | Type::Timestamp
                | Type::Duration
        ),
        (a, b) => a == b,
    }
}
