//! Evaluates functions that return schemas, and handwritten implementations of `JsonSchema`.

use kubesmith_core::diag::Code;
use serde_json::Value;

use super::container::size;
use super::types::{Dialect, Env, SIZE_LIMIT};
use crate::diag::Diagnostic;
use crate::resolve::{self, ItemId};
use crate::source::Loc;
use crate::syntax::{PathExpr, ValueItem, ValueKind};

impl<'a> Dialect<'_, 'a> {
    /// The schema from a handwritten implementation.
    pub(super) fn manual(&mut self, env: &Env, id: ItemId) -> Option<Value> {
        let blocks = self.ctx.resolver.impls(id).iter();
        let mut found = blocks
            .filter(|(.., block)| block.of_trait.as_ref().is_some_and(|name| name.text == "JsonSchema"));
        let first = found.next().map(|(_, module, block)| (*module, &block.values));
        // Several implementations are for different arguments of a generic type.
        let found = first.filter(|_| found.next().is_none());
        if let Some((module, values)) = found {
            return self.written_out(&env.within(module), values);
        }
        self.report_missing_schema(id);
        None
    }

    /// The schema from the `json_schema` of an implementation.
    pub(super) fn written_out(&mut self, env: &Env, values: &[ValueItem]) -> Option<Value> {
        let function = values.iter().find(|value| value.name.text == "json_schema")?;
        match &function.expr.kind {
            ValueKind::SchemaFunction(body) => {
                let schema = self.ask(|dialect| dialect.run(env, body, function.name.loc));
                schema.and_then(|schema| self.small(schema, function.name.loc))
            }
            _ => {
                self.unreadable(
                    function.name.loc,
                    "the result of this function is not known before the program runs",
                );
                None
            }
        }
    }

    /// The schema that a function returns.
    pub(super) fn function(&mut self, env: &Env, path: &PathExpr) -> Option<Value> {
        let found = self.resolve_value(env, path).or_else(|| self.of_made_type(env, path));
        if let Some(resolve::Value::Item(krate, module, item)) = found
            && let ValueKind::SchemaFunction(function) = &item.expr.kind
        {
            if let Some(known) = self.functions.get(&item.name.loc) {
                return known.clone();
            }
            if self.open.len() + self.calls >= CALL_LIMIT {
                self.unreadable(path.loc, &format!("`{}` calls itself", path.text()));
                return None;
            }
            self.calls += 1;
            let owner = self.owner_of(env, path);
            let inner = Env::module(krate, module).owned(owner);
            let inner = self.with_arguments(inner, &function.generics, env, path);
            let schema = self.ask(|dialect| dialect.run(&inner, function, item.name.loc));
            self.calls -= 1;
            let schema = schema.and_then(|schema| self.small(schema, path.loc));
            if function.generics.is_empty() {
                self.functions.insert(item.name.loc, schema.clone());
            }
            return schema;
        }
        self.unreadable(
            path.loc,
            &format!("what `{}` returns is not known before the program runs", path.text()),
        );
        None
    }

    /// A function of the root type, whose definition no source has.
    fn of_made_type(&self, env: &Env, path: &PathExpr) -> Option<resolve::Value<'a>> {
        let [.., owner, name] = &path.segments[..] else { return None };
        let blocks = self.ctx.resolver.impls_of_name(env.krate, owner);
        let mut found = blocks.into_iter().filter_map(|(module, block)| {
            let value = block.values.iter().find(|value| value.name.text == *name)?;
            Some(resolve::Value::Item(env.krate, module, value))
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// The scope of a function, with its type arguments.
    pub(super) fn with_arguments(
        &mut self,
        mut env: Env,
        generics: &[String],
        from: &Env,
        path: &PathExpr,
    ) -> Env {
        let given: Vec<_> = path.arguments.iter().map(|argument| self.argument(from, argument, 0)).collect();
        env.params = generics.iter().cloned().zip(given).collect();
        env
    }

    /// The schema, unless it is too large.
    fn small(&mut self, schema: Value, loc: Loc) -> Option<Value> {
        if size(&schema) <= SIZE_LIMIT {
            return Some(schema);
        }
        self.too_large(loc);
        None
    }

    /// Reports a function whose schema is too large.
    pub(super) fn too_large(&mut self, loc: Loc) {
        let message = format!("a function makes a schema of more than {SIZE_LIMIT} parts");
        self.error(
            Diagnostic::error(Code::SCHEMA_TOO_LARGE, loc, message)
                .help("leave a part open with `\"x-kubernetes-preserve-unknown-fields\": true`"),
        );
    }
}

/// The deepest nesting of function calls.
pub(super) const CALL_LIMIT: usize = 64;
