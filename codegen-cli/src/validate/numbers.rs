//! Checks that defaults fit their Rust types. A schema has only 32 and 64-bit integers, so an API server
//! accepts defaults that the type cannot read.

use kubesmith_core::diag::Code;
use serde_json::Value;

use super::Input;
use crate::diag::Diagnostic;
use crate::ir::{Field, Ir, Shape, TypeRef};

/// Checks the integers in the defaults of all fields.
pub(super) fn fit(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for field in input.ir.types.iter().flat_map(|definition| definition.shape.fields()) {
        let Some(default) = &field.facts.default else { continue };
        let Some((value, ty)) = misfit(input.ir, &field.ty, default) else { continue };
        let (least, greatest) = range(ty).unwrap_or_default();
        let place = field.places.get("default").unwrap_or(&field.span);
        let message = format!("the default of `{}` holds {value}, which does not fit {ty}", field.name);
        out.push(
            Diagnostic::error(Code::INVALID_DEFAULT, input.loc(place), message)
                .note("an API server would fill it in, and no client could read the object")
                .help(format!("write a number from {least} to {greatest}, or use another type")),
        );
    }
}

/// The first number in a value that is out of range for its Rust type, with that type.
fn misfit<'a>(ir: &'a Ir, ty: &'a TypeRef, value: &Value) -> Option<(i128, &'a str)> {
    match (ty, value) {
        (TypeRef::Known(path), Value::Number(number)) => {
            let name = path.rsplit("::").next().unwrap_or(path);
            let (least, greatest) = range(name)?;
            let number = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))?;
            (!(least..=greatest).contains(&number)).then_some((number, name))
        }
        (TypeRef::Nullable(inner), value) => misfit(ir, inner, value),
        (TypeRef::List(item) | TypeRef::Array(item, _), Value::Array(values)) => {
            values.iter().find_map(|value| misfit(ir, item, value))
        }
        (TypeRef::Tuple(items), Value::Array(values)) => {
            items.iter().zip(values).find_map(|(item, value)| misfit(ir, item, value))
        }
        (TypeRef::Map(values), Value::Object(members)) => {
            members.values().find_map(|value| misfit(ir, values, value))
        }
        (TypeRef::Named(id), value) => {
            let shape = &ir.types.get(id.0 as usize)?.shape;
            match (shape, value) {
                (Shape::Newtype(inner), value) => misfit(ir, &inner.ty, value),
                (shape, Value::Object(members)) => {
                    shape.fields().find_map(|field| member(ir, field, value, members))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn member<'a>(
    ir: &'a Ir,
    field: &'a Field,
    whole: &Value,
    members: &serde_json::Map<String, Value>,
) -> Option<(i128, &'a str)> {
    let value = if field.flatten { whole } else { members.get(&field.name)? };
    misfit(ir, &field.ty, value)
}

/// The range of an integer type, or of a list's items.
pub(crate) fn bounds(ty: &TypeRef) -> Option<(i128, i128)> {
    match ty {
        TypeRef::Known(path) => range(path.rsplit("::").next()?),
        TypeRef::Nullable(inner) | TypeRef::List(inner) | TypeRef::Array(inner, _) => bounds(inner),
        _ => None,
    }
}

/// The range of an integer type. The schemas of nonzero numbers exclude zero if they can.
pub(super) fn range(name: &str) -> Option<(i128, i128)> {
    let inner = name.strip_prefix("NonZero").or_else(|| name.strip_prefix("Atomic"));
    Some(match inner.map(str::to_lowercase).as_deref().unwrap_or(name) {
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        // The API server's own integers have 64 bits and a sign.
        "u64" | "usize" => (0, i64::MAX.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn integer_outside_the_range_of_its_type_is_reported() {
        let known = |name: &str| TypeRef::Known(name.to_string());
        let list = TypeRef::List(Box::new(known("u8")));
        let map = TypeRef::Map(Box::new(known("std::num::NonZeroU16")));
        for (ty, value, wanted) in [
            (known("u8"), json!(256), Some((256, "u8"))),
            (known("u8"), json!(255), None),
            (known("u64"), json!(-1), Some((-1, "u64"))),
            (known("i32"), json!(2_147_483_648_i64), Some((2_147_483_648, "i32"))),
            (list, json!([1, 300]), Some((300, "u8"))),
            (map, json!({"a": 65_536}), Some((65_536, "NonZeroU16"))),
            (known("std::num::NonZeroI8"), json!(-129), Some((-129, "NonZeroI8"))),
            (known("std::sync::atomic::AtomicU16"), json!(-1), Some((-1, "AtomicU16"))),
            (known("std::sync::atomic::AtomicI64"), json!(-1), None),
            (known("String"), json!("x"), None),
        ] {
            assert_eq!(misfit(&Ir::default(), &ty, &value), wanted, "{value}");
        }
    }
}
