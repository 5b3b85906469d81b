//! Evaluates expressions that depend on other values: comparisons, `if` and `match`.

use std::cmp::Ordering;

use serde_json::Value;

use crate::lower::kube::types::{Dialect, Env, Ty};
use crate::syntax::{Test, ValueExpr};

impl Dialect<'_, '_> {
    /// The result of `if` or `match`.
    pub(super) fn chosen(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        (subject, arms): (&ValueExpr, &[(Vec<ValueExpr>, ValueExpr)]),
        depth: usize,
    ) -> Option<Value> {
        let subject = self.value_at(env, None, subject, depth)?;
        for (patterns, result) in arms {
            let mut is_taken = patterns.is_empty();
            for pattern in patterns {
                is_taken |= self.value_at(env, None, pattern, depth)? == subject;
            }
            if is_taken {
                return self.value_at(env, ty, result, depth);
            }
        }
        None
    }

    /// Whether a comparison holds.
    pub(super) fn tested(
        &mut self,
        env: &Env,
        test: Test,
        (left, right): (&ValueExpr, &ValueExpr),
        depth: usize,
    ) -> Option<bool> {
        // The order of user types depends on their implementations.
        let is_order = !matches!(test, Test::And | Test::Or | Test::Equal | Test::NotEqual);
        if is_order && (self.is_own(env, left, depth) || self.is_own(env, right, depth)) {
            return None;
        }
        let left = self.value_at(env, None, left, depth)?;
        match (test, left.as_bool()) {
            (Test::And, Some(false)) => return Some(false),
            (Test::Or, Some(true)) => return Some(true),
            _ => {}
        }
        let right = self.value_at(env, None, right, depth)?;
        Some(match test {
            Test::And | Test::Or => right.as_bool().filter(|_| left.is_boolean())?,
            Test::Equal => ordering(&left, &right)?.is_eq(),
            Test::NotEqual => ordering(&left, &right)?.is_ne(),
            Test::Less => ordering(&left, &right)?.is_lt(),
            Test::LessOrEqual => ordering(&left, &right)?.is_le(),
            Test::Greater => ordering(&left, &right)?.is_gt(),
            Test::GreaterOrEqual => ordering(&left, &right)?.is_ge(),
        })
    }
}

/// The order of two booleans, texts or numbers.
fn ordering(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        _ => None,
    }
}
