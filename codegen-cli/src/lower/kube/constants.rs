//! Evaluates the texts and constants in attributes.

use serde_json::Value;

use super::types::{Dialect, Env};
use super::values::DEPTH_LIMIT;
use crate::resolve;
use crate::syntax::{Conversion, PathExpr, ValueExpr, ValueKind};

impl Dialect<'_, '_> {
    /// The text of an expression; `None` after a diagnostic.
    pub(super) fn text(&mut self, env: &Env, expr: &ValueExpr) -> Option<String> {
        let found = self.ask(|dialect| dialect.quiet(|dialect| dialect.text_value(env, expr, 0)));
        if found.is_none() {
            self.unknown_value(expr.loc, "this text");
        }
        found
    }

    fn text_value(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> Option<String> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        self.step()?;
        match &expr.kind {
            ValueKind::Text(text) => Some(text.clone()),
            // A compiled pattern: `LazyLock::new(|| Regex::new("..").unwrap())`
            ValueKind::Call(path, arguments) if path.segments.last().is_some_and(|name| name == "new") => {
                self.text_value(env, arguments.first()?, depth + 1)
            }
            ValueKind::Converted(Conversion::Same, inner) => self.text_value(env, inner, depth + 1),
            ValueKind::Block(variables, result) => {
                self.text_value(&env.clone().with_block(variables), result, depth + 1)
            }
            // A constant, or a function that returns a pattern.
            ValueKind::Path(path) => self.text_of(env, path, depth),
            ValueKind::Call(path, arguments) if arguments.is_empty() => self.text_of(env, path, depth),
            _ => self.value_at(env, None, expr, depth)?.as_str().map(str::to_string),
        }
    }

    fn text_of(&mut self, env: &Env, path: &PathExpr, depth: usize) -> Option<String> {
        if let Some((_, outer, value)) = env.local(path) {
            return self.text_value(&outer.clone(), &value.clone(), depth + 1);
        }
        match self.resolve_value(env, path)? {
            resolve::Value::Item(krate, module, item) => {
                self.text_value(&Env::module(krate, module), &item.expr, depth + 1)
            }
            _ => None,
        }
    }

    /// The value of a constant; `None` after a diagnostic.
    pub(super) fn constant(&mut self, env: &Env, expr: &ValueExpr) -> Option<Value> {
        let found = self.ask(|dialect| dialect.quiet(|dialect| dialect.value(env, None, expr)));
        if found.is_none() {
            self.unknown_value(expr.loc, "this value");
        }
        found
    }

    /// Evaluates without reporting; the caller reports a missing value.
    pub(super) fn quiet<T>(&mut self, look: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.ctx.diagnostics.len();
        let found = look(self);
        self.ctx.diagnostics.truncate(before);
        found
    }
}
