//! Lowers constraints: `length`, `range`, `regex`, `contains` and formats.

use serde_json::{Number, Value};

use kubesmith_core::diag::Code;

use super::pieces;
use super::types::{Dialect, Env};
use crate::diag::Diagnostic;
use crate::syntax::kube::{Limits, Validation};
use crate::syntax::{ValueExpr, ValueKind};

/// Special characters in patterns (`_private/regex_syntax.rs`).
const SPECIAL: &[char] =
    &['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$', '#', '&', '-', '~'];

impl Dialect<'_, '_> {
    pub(super) fn validate(&mut self, env: &Env, schema: &mut Value, validation: &Validation) -> Option<()> {
        if let Some(key) = validation.malformed.first() {
            let message = format!("the arguments of `{}` stand in parentheses", key.text);
            self.error(Diagnostic::error(Code::MALFORMED_ATTRIBUTE, key.loc, message).help(
                "write `length(min = 1, max = 5)`, `range(min = 1)`, `pattern(\"^a$\")` or `inner(..)`",
            ));
            return None;
        }
        if let Some(key) = validation.unknown.first() {
            let message = format!("unknown argument `{}` of a constraint in #[schemars]", key.text);
            self.error(
                Diagnostic::error(Code::UNKNOWN_KEY, key.loc, message)
                    .help("the bounds are `min`, `max`, and `equal` of `length`"),
            );
            return None;
        }
        if let Some(length) = &validation.length {
            self.limits(env, schema, length, "string", "Length")?;
            self.limits(env, schema, length, "array", "Items")?;
        }
        if let Some(range) = &validation.range {
            self.limits(env, schema, range, "number", "imum")?;
        }
        if let Some(pattern) = &validation.pattern {
            let pattern = self.text(env, pattern)?;
            pieces::constrain(schema, "string", "pattern", pattern);
        }
        if let Some(text) = &validation.contains {
            let text = self.text(env, text)?;
            pieces::constrain(schema, "string", "pattern", escape(&text));
            // `apply_to_schema_expr` of schemars 0.8
            if self.locked.is_schemars_0_8() && pieces::has_type(schema, "object") {
                pieces::require(schema, &text);
            }
        }
        if let Some(format) = validation.format {
            pieces::insert(schema, "format", format);
        }
        if let Some(inner) = &validation.inner
            && let Some(items) =
                schema.get_mut("items").filter(|items| items.is_object() || items.is_boolean())
        {
            self.validate(env, items, inner)?;
        }
        Some(())
    }

    fn limits(
        &mut self,
        env: &Env,
        schema: &mut Value,
        limits: &Limits,
        concerns: &str,
        suffix: &str,
    ) -> Option<()> {
        let bounds = [("min", limits.min.as_ref()), ("max", limits.max.as_ref())];
        for (prefix, bound) in bounds {
            if let Some(bound) = bound.or(limits.equal.as_ref()) {
                let number = self.number(env, bound)?;
                pieces::constrain(schema, concerns, &format!("{prefix}{suffix}"), number);
            }
        }
        Some(())
    }

    /// The number of an expression; `None` after a diagnostic.
    fn number(&mut self, env: &Env, expr: &ValueExpr) -> Option<Number> {
        let found = match &expr.kind {
            ValueKind::Float(value) => Number::from_f64(*value),
            ValueKind::Neg(inner) => match inner.kind {
                ValueKind::Float(value) => Number::from_f64(-value),
                _ => None,
            },
            _ => None,
        };
        let integer = |dialect: &mut Self| {
            let value = dialect.whole(env, expr, 0)?;
            super::enums::integer(value)?.as_number().cloned()
        };
        let found = found.or_else(|| integer(self)).or_else(|| {
            self.quiet(|dialect| dialect.constant(env, expr)).and_then(|value| value.as_number().cloned())
        });
        if found.is_none() {
            self.unknown_value(expr.loc, "this number");
        }
        found
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if SPECIAL.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
