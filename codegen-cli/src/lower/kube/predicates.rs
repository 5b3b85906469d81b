//! Evaluates `skip_serializing_if` for a value.

use serde_json::Value;

use super::types::{Dialect, Env, Ty};
use crate::resolve::{self, ItemId};
use crate::syntax::kube::{Body, Field, Predicate};
use crate::syntax::{PathExpr, ValueKind};

impl Dialect<'_, '_> {
    /// Whether a field with this value is skipped; `None` after a diagnostic.
    pub(super) fn is_skipped(&mut self, env: &Env, field: &Field, ty: &Ty, value: &Value) -> Option<bool> {
        let Some(path) = &field.serde.skip_serializing_if else { return Some(false) };
        if let Some(answer) = self.predicate(env, path, ty, value) {
            return Some(answer);
        }
        let message =
            format!("whether `{}` leaves the default out is not known before the program runs", path.text());
        self.unreadable_default(path.loc, &message);
        None
    }

    fn predicate(&mut self, env: &Env, path: &PathExpr, ty: &Ty, value: &Value) -> Option<bool> {
        self.step()?;
        let known = match self.ctx.resolver.value(env.krate, env.module, path)? {
            resolve::Value::Item(krate, module, item) => {
                let ValueKind::Predicate(predicate) = &item.expr.kind else { return None };
                let inner = Env::module(krate, module).owned(self.owner_of(env, path));
                return self.holds(&inner, predicate, ty, value);
            }
            resolve::Value::External(path) => path,
            _ => return None,
        };
        match known.rsplit("::").next()? {
            "is_none" | "is_null" => Some(value.is_null()),
            "is_some" => Some(!value.is_null()),
            "is_empty" => is_empty(value),
            "not" => value.as_bool().map(|value| !value),
            _ => None,
        }
    }

    fn holds(&mut self, env: &Env, predicate: &Predicate, ty: &Ty, value: &Value) -> Option<bool> {
        let compares = matches!(predicate, Predicate::IsDefault | Predicate::Equals(_));
        if compares && self.has_own_equality(ty) {
            return None;
        }
        match predicate {
            Predicate::Always(answer) => Some(*answer),
            Predicate::IsTrue => value.as_bool(),
            Predicate::IsFalse => value.as_bool().map(|value| !value),
            Predicate::IsEmpty => self.asks(ty, "is_empty", value),
            Predicate::IsNone => Some(value.is_null()),
            Predicate::IsDefault => Some(self.default_of(ty)? == *value),
            Predicate::Equals(expr) => Some(self.value(env, Some(ty), expr)? == *value),
            Predicate::Field(name, inner) => self.field_holds(env, (name, inner), ty, value),
            Predicate::All(all) => {
                let answers: Option<Vec<bool>> =
                    all.iter().map(|predicate| self.holds(env, predicate, ty, value)).collect();
                Some(answers?.into_iter().all(|holds| holds))
            }
        }
    }

    /// Whether the type has a handwritten `PartialEq`.
    fn has_own_equality(&self, ty: &Ty) -> bool {
        let Ty::Item(id, _) = ty else { return false };
        let mut traits =
            self.ctx.resolver.impls(*id).iter().filter_map(|(.., block)| block.of_trait.as_ref());
        traits.any(|name| name.text == "PartialEq")
    }

    /// Calls a predicate method of a value; types with source have their own methods.
    fn asks(&mut self, ty: &Ty, method: &str, value: &Value) -> Option<bool> {
        let Ty::Item(id, _) = ty else { return is_empty(value) };
        let owner = self.item(*id).name.clone();
        let path = PathExpr {
            global: false,
            segments: vec![owner.text, method.to_string()],
            arguments: Vec::new(),
            loc: owner.loc,
        };
        let env = Env::module(id.krate, id.module);
        self.predicate(&env, &path, ty, value)
    }

    /// Evaluates a predicate for a field of a struct.
    fn field_holds(
        &mut self,
        env: &Env,
        (name, predicate): (&str, &Predicate),
        ty: &Ty,
        value: &Value,
    ) -> Option<bool> {
        let Ty::Item(id, params) = ty else { return None };
        let (id, params) = (*id, params.clone());
        let Body::Named(fields) = &self.item(id).schemars.as_deref()?.body else { return None };
        let field = fields.iter().find(|field| field.name.text == name)?;
        let inner = self.value_inside(id, &params, |dialect, env| dialect.ty(env, &field.ty))?;
        match value.as_object()?.get(&field.written) {
            Some(member) => self.holds(env, predicate, &inner, member),
            None => {
                let omitted = self.omitted(id, field, &inner)?;
                self.holds(env, predicate, &inner, &omitted)
            }
        }
    }

    /// The value of an absent field: the one that its predicate skips.
    fn omitted(&mut self, id: ItemId, field: &Field, ty: &Ty) -> Option<Value> {
        let path = field.serde.skip_serializing_if.as_ref()?;
        match self.ctx.resolver.value(id.krate, id.module, path)? {
            resolve::Value::Item(krate, module, item) => {
                let ValueKind::Predicate(predicate) = &item.expr.kind else { return None };
                match &**predicate {
                    Predicate::IsTrue => Some(Value::Bool(true)),
                    Predicate::IsFalse => Some(Value::Bool(false)),
                    Predicate::IsNone => Some(Value::Null),
                    Predicate::IsEmpty | Predicate::IsDefault => self.default_of(ty),
                    Predicate::Equals(expr) => self.value(&Env::module(krate, module), Some(ty), expr),
                    Predicate::Field(..) | Predicate::All(_) | Predicate::Always(_) => None,
                }
            }
            resolve::Value::External(path) => match path.rsplit("::").next()? {
                "is_none" => Some(Value::Null),
                "is_empty" => self.default_of(ty),
                "not" => Some(Value::Bool(false)),
                _ => None,
            },
            _ => None,
        }
    }
}

fn is_empty(value: &Value) -> Option<bool> {
    match value {
        Value::String(text) => Some(text.is_empty()),
        Value::Array(items) => Some(items.is_empty()),
        Value::Object(members) => Some(members.is_empty()),
        _ => None,
    }
}
