//! Evaluates numbers: arithmetic, casts and the limits of integers.

use serde_json::{Value, json};

use super::DEPTH_LIMIT;
use crate::lower::kube::types::{Dialect, Env};
use crate::syntax::{self, Conversion, Operator, PathExpr, ValueExpr, ValueKind};

impl Dialect<'_, '_> {
    /// The integer value of an expression.
    pub(in super::super) fn whole(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> Option<i128> {
        match &expr.kind {
            _ if depth > DEPTH_LIMIT => None,
            ValueKind::Int(value) => Some(*value),
            ValueKind::Converted(Conversion::Same | Conversion::Into, inner) => {
                self.whole(env, inner, depth + 1)
            }
            ValueKind::Cast(inner, name) => {
                let value = self.whole(env, inner, depth + 1)?;
                syntax::fits(value, name).then_some(value)
            }
            ValueKind::Path(path) if env.scope().param(&path.segments[0]).is_some() => {
                self.ctx.integer(&env.scope(), expr)
            }
            ValueKind::Neg(inner) => self.whole(env, inner, depth + 1)?.checked_neg(),
            ValueKind::Binary(operator, left, right) => {
                let (left, right) = (self.whole(env, left, depth + 1)?, self.whole(env, right, depth + 1)?);
                operator.apply(left, right)
            }
            // `f64::from` always makes a fraction.
            ValueKind::Call(path, _) if is_fraction(path) => None,
            ValueKind::Path(_) | ValueKind::Call(..) | ValueKind::Choice(..) | ValueKind::Block(..) => {
                let value = self.value_at(env, None, expr, depth + 1)?;
                value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
            }
            _ => None,
        }
    }

    /// The floating point value of an expression.
    pub(super) fn fraction(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> Option<f64> {
        match &expr.kind {
            ValueKind::Binary(operator, left, right) if depth < DEPTH_LIMIT => {
                let (left, right) =
                    (self.fraction(env, left, depth + 1)?, self.fraction(env, right, depth + 1)?);
                match operator {
                    Operator::Add => Some(left + right),
                    Operator::Sub => Some(left - right),
                    Operator::Mul => Some(left * right),
                    Operator::Div => Some(left / right),
                    Operator::Min => Some(left.min(right)),
                    Operator::Max => Some(left.max(right)),
                    _ => None,
                }
            }
            ValueKind::Float(value) => Some(*value),
            #[allow(clippy::cast_possible_truncation, reason = "that is what the cast does")]
            ValueKind::Cast(inner, name) if name == "f32" => {
                self.fraction(env, inner, depth + 1).map(|value| f64::from(value as f32))
            }
            ValueKind::Cast(inner, name) if name == "f64" => match &inner.kind {
                // A constant of another size would lose digits before the cast.
                ValueKind::Path(_) => self.whole(env, inner, depth + 1).and_then(exact),
                _ => self.fraction(env, inner, depth + 1),
            },
            ValueKind::Call(path, arguments) if is_fraction(path) => {
                self.whole(env, arguments.first()?, depth + 1).and_then(exact)
            }
            ValueKind::Int(value) => exact(*value),
            ValueKind::Neg(inner) => self.fraction(env, inner, depth + 1).map(|value| -value),
            ValueKind::Path(_) | ValueKind::Choice(..) => self.value_at(env, None, expr, depth + 1)?.as_f64(),
            _ => None,
        }
    }
}

/// `f64::from`
fn is_fraction(path: &PathExpr) -> bool {
    matches!(path.segments.as_slice(), [.., owner, _] if matches!(owner.as_str(), "f32" | "f64"))
}

/// The integer as a floating point number, if that is exact.
fn exact(value: i128) -> Option<f64> {
    i32::try_from(value).ok().map(f64::from)
}

/// `i32::MAX`, `SystemTime::UNIX_EPOCH` and similar.
pub(super) fn limit(path: &str) -> Option<Value> {
    let (ty, name) = path.rsplit_once("::")?;
    macro_rules! limits {
        ($($int:ident),*) => {
            match (ty.rsplit("::").next()?, name) {
                $((stringify!($int), "MAX") => Some(json!($int::MAX)), (stringify!($int), "MIN") => Some(json!($int::MIN)),)*
                ("usize", "MAX") => Some(json!(u64::MAX)),
                ("usize", "MIN") => Some(json!(0)),
                ("isize", "MAX") => Some(json!(i64::MAX)),
                ("isize", "MIN") => Some(json!(i64::MIN)),
                ("SystemTime" | "time", "UNIX_EPOCH") => {
                    Some(json!({ "secs_since_epoch": 0, "nanos_since_epoch": 0 }))
                }
                (unsigned, "MIN") if unsigned.starts_with("NonZeroU") => Some(json!(1)),
                _ => None,
            }
        };
    }
    limits!(i8, i16, i32, i64, u8, u16, u32, u64)
}
