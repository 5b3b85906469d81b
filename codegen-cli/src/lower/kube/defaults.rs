//! Evaluates the values of absent fields: `#[serde(default)]` and `Default`, derived or handwritten.

use serde_json::{Value, json};

use super::container::size;
use super::known;
use super::types::{Dialect, Env, Param, Ty};
use super::values::{DEPTH_LIMIT, assigned, empty_value};
use crate::known::kinds::sent;
use crate::resolve::{self, ItemId};
use crate::syntax::kube::{Body, DefaultExpr, Derived, Field};
use crate::syntax::{PathExpr, ValueExpr, ValueKind};

/// The most values in the default of an array.
const ARRAY_LIMIT: usize = 10_000;

impl<'a> Dialect<'_, 'a> {
    /// Writes a field's default into its property's schema.
    pub(super) fn set_default(
        &mut self,
        env: &Env,
        property: &mut Value,
        field: &Field,
        container: Option<&DefaultExpr>,
    ) -> Option<()> {
        let Some(default) = field.serde.default.as_ref().or(container) else { return Some(()) };
        // schemars omits the default if a parameter has no bound `Serialize`.
        if env.mentions_unwritable(&field.ty) {
            return Some(());
        }
        let ty = self.ty(env, &field.ty)?;
        self.environment = None;
        let value = self.ask(|dialect| match &field.serde.default {
            Some(own) => dialect.default_value(env, own, &ty),
            None => dialect.field_of_default(env, default, field, &ty),
        });
        if let (Some(variable), Some(_)) = (self.environment.take(), &value) {
            self.report_environment(variable, &field.name.text);
        }
        if let Some(value) = &value
            && self.is_skipped(env, field, &ty, value)?
        {
            return Some(());
        }
        // The output of a function is unknown.
        let Some(value) = value.filter(|_| !field.serde.serialize_with) else {
            if let Some(path) = &default.function
                && self.report_missing_default(env, path)
            {
                return None;
            }
            let message =
                format!("the default of `{}` is not known before the program runs", field.name.text);
            self.unreadable_default(default.loc, &message);
            return None;
        };
        super::pieces::insert(property, "default", value);
        Some(())
    }

    fn default_value(&mut self, env: &Env, default: &DefaultExpr, ty: &Ty) -> Option<Value> {
        match &default.function {
            None => self.quiet(|dialect| dialect.default_of(ty)),
            Some(path) => {
                let call = ValueExpr { kind: ValueKind::Call(path.clone(), Vec::new()), loc: default.loc };
                self.quiet(|dialect| dialect.value(env, Some(ty), &call))
            }
        }
    }

    /// The value of a field in the default of its struct.
    fn field_of_default(
        &mut self,
        env: &Env,
        default: &DefaultExpr,
        field: &Field,
        ty: &Ty,
    ) -> Option<Value> {
        let owner = self.open.last().cloned()?;
        self.quiet(|dialect| match &default.function {
            None => dialect.default_field(&owner, field, ty, 0),
            Some(path) => {
                let found = dialect.ctx.resolver.value(env.krate, env.module, path)?;
                let resolve::Value::Item(krate, module, item) = found else { return None };
                dialect.literal_field(&Env::module(krate, module), &item.expr, &owner, field, ty, 0)
            }
        })
    }

    /// A field in the result of `Default`.
    pub(super) fn default_field(
        &mut self,
        owner: &Ty,
        field: &Field,
        ty: &Ty,
        depth: usize,
    ) -> Option<Value> {
        let Ty::Item(id, _) = owner else { return None };
        if self.item(*id).schemars.as_ref()?.derives_default {
            return self.default_at(ty, depth + 1);
        }
        let (env, expr) = self.default_impl(*id)?;
        self.literal_field(&env.owned(Some(owner.clone())), expr, owner, field, ty, depth)
    }

    /// A field of a struct literal.
    pub(super) fn literal_field(
        &mut self,
        env: &Env,
        expr: &ValueExpr,
        owner: &Ty,
        field: &Field,
        ty: &Ty,
        depth: usize,
    ) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        self.step()?;
        let (given, rest) = match &expr.kind {
            ValueKind::Struct(_, given, rest) => (given, rest),
            ValueKind::Call(path, arguments) => {
                return self.field_of_call(env, (path, arguments), owner, field, ty, depth + 1);
            }
            ValueKind::Changed(before, changes) => {
                return match assigned(changes, &field.name.text)? {
                    Some(value) => self.value_at(env, Some(ty), value, depth + 1),
                    None => self.rest_field(env, before, owner, field, ty, depth + 1),
                };
            }
            ValueKind::Path(path) => {
                if let Some((_, outer, value)) = env.local(path) {
                    return self.rest_field(outer, value, owner, field, ty, depth + 1);
                }
                let Some(resolve::Value::Item(krate, module, item)) = self.resolve_value(env, path) else {
                    return None;
                };
                let inner = self.call_env(env, path, (krate, module), &[], &[]);
                return self.literal_field(&inner, &item.expr, owner, field, ty, depth + 1);
            }
            ValueKind::Block(variables, result) => {
                let inner = env.clone().with_block(variables);
                return self.literal_field(&inner, result, owner, field, ty, depth + 1);
            }
            _ => return None,
        };
        match given.iter().find(|(name, _)| *name == field.name.text) {
            Some((_, value)) => self.value_at(env, Some(ty), value, depth + 1),
            None => self.rest_field(env, rest.as_deref()?, owner, field, ty, depth + 1),
        }
    }

    /// A field from `..rest`.
    pub(super) fn rest_field(
        &mut self,
        env: &Env,
        rest: &ValueExpr,
        owner: &Ty,
        field: &Field,
        ty: &Ty,
        depth: usize,
    ) -> Option<Value> {
        let is_default = |path: &PathExpr| path.segments.last().is_some_and(|name| name == "default");
        match &rest.kind {
            ValueKind::Call(path, none) if none.is_empty() && is_default(path) => {
                // In a handwritten implementation of Default, this would recurse endlessly.
                let is_own = env.owner.as_ref() == Some(owner) && !self.derives_default(owner);
                if is_own { None } else { self.default_field(owner, field, ty, depth) }
            }
            _ => self.literal_field(env, rest, owner, field, ty, depth),
        }
    }

    /// A field of a function's result.
    fn field_of_call(
        &mut self,
        env: &Env,
        (path, arguments): (&PathExpr, &[ValueExpr]),
        owner: &Ty,
        field: &Field,
        ty: &Ty,
        depth: usize,
    ) -> Option<Value> {
        let Some(resolve::Value::Item(krate, module, item)) = self.resolve_value(env, path) else {
            return None;
        };
        let (names, body) = match &item.expr.kind {
            ValueKind::Function(names, body) => (&names[..], &**body),
            _ => (&[][..], &item.expr),
        };
        let inner = self.call_env(env, path, (krate, module), names, arguments);
        self.literal_field(&inner, body, owner, field, ty, depth)
    }

    fn derives_default(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Item(id, _) => {
                self.item(*id).schemars.as_ref().is_some_and(|derived| derived.derives_default)
            }
            _ => false,
        }
    }

    /// The expression of a handwritten `impl Default`.
    fn default_impl(&self, id: ItemId) -> Option<(Env, &'a ValueExpr)> {
        let blocks = self.ctx.resolver.impls(id).iter();
        let mut found =
            blocks.filter(|(.., block)| block.of_trait.as_ref().is_some_and(|name| name.text == "Default"));
        let (krate, module, block) = found.next()?;
        // Several implementations are for different arguments of a generic type.
        if found.next().is_some() {
            return None;
        }
        let value = block.values.iter().find(|value| value.name.text == "default")?;
        Some((Env::module(*krate, *module), &value.expr))
    }

    /// The JSON of a type's `Default`.
    pub(super) fn default_of(&mut self, ty: &Ty) -> Option<Value> {
        self.default_at(ty, 0)
    }

    pub(super) fn default_at(&mut self, ty: &Ty, depth: usize) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        self.step()?;
        match ty {
            Ty::Item(id, params) => {
                let (id, params) = (*id, params.clone());
                let derived = self.item(id).schemars.as_deref()?;
                if !derived.derives_default {
                    let (env, expr) = self.default_impl(id)?;
                    return self.value_at(&env.owned(Some(ty.clone())), Some(ty), expr, depth + 1);
                }
                self.value_inside(id, &params, |dialect, env| {
                    dialect.derived_default(env, ty, derived, depth)
                })
            }
            Ty::Known(path, arguments) => self.known_default(path, arguments, depth),
            Ty::Array(item, len) => {
                let item = self.default_at(item, depth + 1)?;
                let len = usize::try_from(*len).ok()?;
                let is_small = size(&item).checked_mul(len).is_some_and(|size| size <= ARRAY_LIMIT);
                is_small.then(|| Value::Array(vec![item; len]))
            }
            Ty::Slice(_) => Some(json!([])),
            Ty::Tuple(items) if items.is_empty() => Some(Value::Null),
            Ty::Tuple(items) => items.iter().map(|item| self.default_at(item, depth + 1)).collect(),
        }
    }

    fn derived_default(&mut self, env: &Env, ty: &Ty, derived: &Derived, depth: usize) -> Option<Value> {
        match &derived.body {
            Body::Unit => Some(Value::Null),
            Body::Enum(variants) => {
                let variant = variants.iter().find(|variant| variant.is_default)?;
                self.variant(derived, variant, None)
            }
            Body::Named(fields) | Body::Tuple(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for field in fields.iter().filter(|field| !field.serde.skip_serializing) {
                    let field_ty = self.ty(env, &field.ty)?;
                    values.push((field, self.default_field(ty, field, &field_ty, depth)?, field_ty));
                }
                self.written(env, derived, values)
            }
        }
    }

    fn known_default(&mut self, path: &str, arguments: &[Param], depth: usize) -> Option<Value> {
        if known::is_transparent(path) {
            let inner = self.type_argument(path, arguments, 0)?;
            return self.default_at(&inner, depth + 1);
        }
        if matches!(path, "Option" | "serde_json::Value" | "std::marker::PhantomData") {
            return Some(Value::Null);
        }
        // Empty, for any type of items.
        if known::MAPS.contains(&path) {
            return Some(json!({}));
        }
        if path == "Vec" || path == "std::collections::VecDeque" || path.ends_with("Set") {
            return Some(json!([]));
        }
        if path.ends_with("::NaiveDate") || path.starts_with("jiff::") || path.starts_with("chrono::") {
            return None;
        }
        if path.ends_with("::Quantity") {
            return Some(json!(""));
        }
        if path.ends_with("::IntOrString") {
            return Some(json!(0));
        }
        if path == "std::time::Duration" {
            return Some(json!({"secs": 0, "nanos": 0}));
        }
        if path == "char" {
            return Some(json!("\u{0}"));
        }
        if path == "uuid::Uuid" {
            return Some(json!("00000000-0000-0000-0000-000000000000"));
        }
        let mut value = empty_value(&self.known(path, arguments)?)?;
        add_type(path, &mut value);
        Some(value)
    }
}

/// Adds `apiVersion` and `kind`, which k8s-openapi writes for its kinds although they are no fields.
pub(super) fn add_type(path: &str, value: &mut Value) {
    if let (Some((api_version, kind)), Value::Object(members)) = (sent(path), value) {
        members.insert("apiVersion".to_string(), api_version.into());
        members.insert("kind".to_string(), kind.into());
    }
}
