//! Functions that return schemas, and hand-written implementations of `JsonSchema`, as far as they are written out.

use std::collections::HashMap;

use kubesmith_core::diag::Code;
use serde_json::{Map, Value};

use super::container::size;
use super::pieces;
use super::types::{Dialect, Env, SIZE_LIMIT};
use crate::diag::Diagnostic;
use crate::resolve::{self, ItemId};
use crate::source::Loc;
use crate::syntax::kube::{JsonExpr, SchemaFunction, SchemaStep};
use crate::syntax::{PathExpr, ValueItem, ValueKind};

/// Variables of a function.
type Locals = HashMap<String, Value>;

impl Dialect<'_, '_> {
    /// The schema that a hand-written implementation returns.
    pub(super) fn manual(&mut self, env: &Env, id: ItemId) -> Option<Value> {
        let item = self.item(id);
        let blocks = self.ctx.resolver.impls(id).iter();
        let mut found = blocks
            .filter(|(.., block)| block.of_trait.as_ref().is_some_and(|name| name.text == "JsonSchema"));
        let first = found.next().map(|(_, module, block)| (*module, &block.values));
        // Several are for different arguments of a generic type.
        let found = first.filter(|_| found.next().is_none());
        if let Some((module, values)) = found {
            return self.written_out(&env.within(module), values);
        }
        let message = format!("`{}` has no schema that can be read", item.name.text);
        self.unreadable(item.name.loc, &message);
        None
    }

    /// The schema that the `json_schema` of an implementation returns.
    pub(super) fn written_out(&mut self, env: &Env, values: &[ValueItem]) -> Option<Value> {
        let function = values.iter().find(|value| value.name.text == "json_schema")?;
        match &function.expr.kind {
            ValueKind::SchemaFunction(body) => self.evaluate(env, body, function.name.loc),
            _ => {
                self.unreadable(function.name.loc, "what this returns is not known before the program runs");
                None
            }
        }
    }

    /// The schema that a function returns.
    pub(super) fn function(&mut self, env: &Env, path: &PathExpr) -> Option<Value> {
        let found = self.ctx.resolver.value(env.krate, env.module, path);
        if let Some(resolve::Value::Item(krate, module, item)) = found
            && let ValueKind::SchemaFunction(function) = &item.expr.kind
        {
            if self.open.len() + self.calls >= CALL_LIMIT {
                self.unreadable(path.loc, &format!("`{}` calls itself", path.text()));
                return None;
            }
            self.calls += 1;
            let schema = match self.functions.get(&item.name.loc) {
                Some(known) => known.clone(),
                None => self.evaluate(&Env::module(krate, module), function, item.name.loc),
            };
            self.calls -= 1;
            let schema = schema.and_then(|schema| self.small(schema, path.loc));
            self.functions.insert(item.name.loc, schema.clone());
            return schema;
        }
        self.unreadable(
            path.loc,
            &format!("what `{}` returns is not known before the program runs", path.text()),
        );
        None
    }

    fn evaluate(&mut self, env: &Env, function: &SchemaFunction, loc: Loc) -> Option<Value> {
        let mut locals = Locals::new();
        for step in &function.steps {
            match step {
                SchemaStep::Let(name, value) => {
                    let made = self.json_in(env, value, &locals)?;
                    locals.insert(name.clone(), self.small(made, loc)?);
                }
                SchemaStep::Insert(name, key, value) => {
                    let (key, value) = (self.text(env, key)?, self.json_in(env, value, &locals)?);
                    pieces::insert(locals.get_mut(name)?, &key, value);
                }
                SchemaStep::Remove(name, key) => {
                    let key = self.text(env, key)?;
                    pieces::object(locals.get_mut(name)?).remove(&key);
                }
                SchemaStep::Unknown(loc) => {
                    self.unreadable(
                        *loc,
                        "what this does to the schema is not known before the program runs",
                    );
                    return None;
                }
            }
        }
        self.json_in(env, &function.result, &locals)
    }

    /// The schema, unless it is larger than any may be.
    fn small(&mut self, schema: Value, loc: Loc) -> Option<Value> {
        if size(&schema) <= SIZE_LIMIT {
            return Some(schema);
        }
        let message = format!("a function makes a schema of more than {SIZE_LIMIT} parts");
        self.error(
            Diagnostic::error(Code::SCHEMA_TOO_LARGE, loc, message)
                .help("leave a part open with `\"x-kubernetes-preserve-unknown-fields\": true`"),
        );
        None
    }

    /// JSON that is written out.
    pub(super) fn json(&mut self, env: &Env, expr: &JsonExpr) -> Option<Value> {
        self.json_in(env, expr, &Locals::new())
    }

    fn json_in(&mut self, env: &Env, expr: &JsonExpr, locals: &Locals) -> Option<Value> {
        self.nested(|dialect| dialect.json_of(env, expr, locals))
    }

    fn json_of(&mut self, env: &Env, expr: &JsonExpr, locals: &Locals) -> Option<Value> {
        Some(match expr {
            JsonExpr::Null => Value::Null,
            JsonExpr::Text(value) => value.clone(),
            JsonExpr::Value(value) => {
                let named = match &value.kind {
                    ValueKind::Converted(_, inner) => &inner.kind,
                    kind => kind,
                };
                if let ValueKind::Path(path) = named
                    && let [name] = &path.segments[..]
                    && let Some(local) = locals.get(name)
                {
                    return Some(local.clone());
                }
                return self.constant(env, value);
            }
            JsonExpr::List(items) => {
                let items: Option<Vec<Value>> =
                    items.iter().map(|item| self.json_in(env, item, locals)).collect();
                Value::Array(items?)
            }
            JsonExpr::Object(members) => {
                let mut out = Map::new();
                for (key, value) in members {
                    out.insert(self.text(env, key)?, self.json_in(env, value, locals)?);
                }
                Value::Object(out)
            }
            JsonExpr::Schema(ty) => {
                let ty = self.ty(env, ty)?;
                return self.schema(&ty);
            }
            JsonExpr::Call(path) => return self.function(env, path),
            JsonExpr::Unknown(loc) => {
                self.unknown_value(*loc, "this value");
                return None;
            }
        })
    }
}

/// How deep functions may call each other.
const CALL_LIMIT: usize = 64;
