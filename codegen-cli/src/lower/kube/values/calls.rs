//! Evaluates calls of functions and constructors.

use serde_json::{Value, json};

use crate::load::ModuleId;
use crate::lower::kube::literals::paired;
use crate::lower::kube::types::{Dialect, Env, Ty};
use crate::lower::kube::values::DEPTH_LIMIT;
use crate::lower::kube::values::changes::assigned;
use crate::lower::kube::values::lists::is_set;
use crate::resolve::{self, ItemId};
use crate::syntax::kube::{Body, Field};
use crate::syntax::{Conversion, PathExpr, ValueExpr, ValueKind};

impl Dialect<'_, '_> {
    pub(super) fn called(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        path: &PathExpr,
        arguments: &[ValueExpr],
        depth: usize,
    ) -> Option<Value> {
        let last = path.segments.last()?.clone();
        match (self.resolve_value(env, path), arguments) {
            (Some(resolve::Value::Item(krate, module, item)), []) => {
                let owner = self.owner_of(env, path);
                let inner = Env::module(krate, module).owned(owner);
                self.value_at(&inner, ty, &item.expr, depth)
            }
            (Some(resolve::Value::Item(krate, module, item)), _) => {
                let ValueKind::Function(names, body) = &item.expr.kind else { return None };
                let inner = self.call_env(env, path, (krate, module), names, arguments);
                self.value_at(&inner, ty, body, depth)
            }
            (Some(resolve::Value::Constructor(id)), _) => self.constructed(env, ty, id, arguments, depth),
            (Some(resolve::Value::Variant(id, name)), _) => {
                let derived = self.item(id).schemars.as_deref()?;
                self.check_item(ty, id)?;
                let Body::Enum(variants) = &derived.body else { return None };
                let variant = variants.iter().find(|variant| variant.name.text == name)?;
                let Body::Tuple(fields) = &variant.body else { return None };
                let content = self.tuple_value(env, id, fields, arguments, depth)?;
                self.variant(derived, variant, Some(content))
            }
            // `Default::default()`, `T::default()` of a type that derives it, `Vec::new()`
            (_, _) if is_empty(&last, arguments) => match (self.owner_of(env, path), ty) {
                // The order of a set that becomes a list depends on what is added to it.
                (Some(owner), Some(ty)) if is_set(&owner) && !is_set(&self.unwrapped(ty)) => None,
                (Some(owner @ Ty::Item(..)), _) => {
                    if let Ty::Item(id, _) = &owner {
                        self.check_item(ty, *id)?;
                    }
                    self.default_at(&owner, depth)
                }
                (Some(owner), None) => self.default_at(&owner, depth),
                (_, Some(ty)) => self.default_at(ty, depth),
                _ => None,
            },
            (Some(resolve::Value::External(path)), [_, _, _, _]) if path == "std::net::Ipv4Addr::new" => {
                let parts: Option<Vec<u64>> =
                    arguments.iter().map(|part| self.value_at(env, None, part, depth)?.as_u64()).collect();
                let parts: Vec<String> = parts?.iter().map(u64::to_string).collect();
                Some(json!(parts.join(".")))
            }
            (Some(resolve::Value::External(path)), [argument]) => self.made(env, ty, &path, argument, depth),
            _ => None,
        }
    }

    /// A field of the struct that an expression makes.
    pub(super) fn field_of_value(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        of: &ValueExpr,
        name: &str,
        depth: usize,
    ) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        self.step()?;
        match &of.kind {
            ValueKind::Struct(_, given, _) => {
                let (_, value) = given.iter().find(|(known, _)| known == name)?;
                self.value_at(env, ty, value, depth + 1)
            }
            ValueKind::Converted(Conversion::Same, inner) => {
                self.field_of_value(env, ty, inner, name, depth + 1)
            }
            ValueKind::Block(variables, result) => {
                let inner = env.clone().with_block(variables);
                self.field_of_value(&inner, ty, result, name, depth + 1)
            }
            ValueKind::Changed(before, changes) => match assigned(changes, name)? {
                Some(value) => self.value_at(env, ty, value, depth + 1),
                None => self.field_of_value(env, ty, before, name, depth + 1),
            },
            ValueKind::Path(path) | ValueKind::Call(path, _) => {
                if let Some((_, outer, value)) = env.local(path) {
                    return self.field_of_value(&outer.clone(), ty, &value.clone(), name, depth + 1);
                }
                let Some(resolve::Value::Item(krate, module, item)) = self.resolve_value(env, path) else {
                    return self.field_of_derived_default(env, path, name, depth + 1);
                };
                let (names, body) = match &item.expr.kind {
                    ValueKind::Function(names, body) => (&names[..], &**body),
                    _ => (&[][..], &item.expr),
                };
                let arguments =
                    if let ValueKind::Call(_, arguments) = &of.kind { &arguments[..] } else { &[] };
                let inner = self.call_env(env, path, (krate, module), names, arguments);
                self.field_of_value(&inner, ty, body, name, depth + 1)
            }
            _ => None,
        }
    }

    /// A field of `T::default()`, where `T` derives it.
    fn field_of_derived_default(
        &mut self,
        env: &Env,
        path: &PathExpr,
        name: &str,
        depth: usize,
    ) -> Option<Value> {
        if path.segments.last()? != "default" {
            return None;
        }
        let owner = self.owner_of(env, path)?;
        let Ty::Item(id, params) = &owner else { return None };
        let Body::Named(fields) = &self.item(*id).schemars.as_deref()?.body else { return None };
        let field = fields.iter().find(|field| field.name.text == name)?;
        self.value_inside(*id, params, |dialect, inner| {
            let ty = dialect.ty(inner, &field.ty)?;
            dialect.default_field(&owner, field, &ty, depth)
        })
    }

    /// The scope inside of a function, with its arguments.
    pub(in super::super) fn call_env(
        &mut self,
        env: &Env,
        path: &PathExpr,
        (krate, module): (usize, ModuleId),
        names: &[String],
        arguments: &[ValueExpr],
    ) -> Env {
        let owner = self.owner_of(env, path);
        let named = names.iter().cloned().zip(arguments.iter().cloned());
        let locals = named.map(|(name, value)| (name, env.clone(), value)).collect();
        Env::module(krate, module).owned(owner).with_locals(locals)
    }

    /// The result of other crates' constructors for an argument.
    fn made(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        path: &str,
        argument: &ValueExpr,
        depth: usize,
    ) -> Option<Value> {
        let number = |dialect: &mut Self| {
            let value = dialect.value_at(env, None, argument, depth)?;
            value.as_u64()
        };
        if path.ends_with("Set::from") && !ty.is_some_and(|ty| is_set(&self.unwrapped(ty))) {
            return None;
        }
        if path.ends_with("Map::from") && ty.is_none() {
            return self.value_at(env, None, argument, depth).map(paired);
        }
        match path.rsplit("::").next()? {
            "from_secs" => number(self).map(|secs| json!({"secs": secs, "nanos": 0})),
            "from_millis" => {
                number(self).map(|ms| json!({"secs": ms / 1000, "nanos": (ms % 1000) * 1_000_000}))
            }
            "Object" if matches!(&argument.kind, ValueKind::Call(_, none) if none.is_empty()) => {
                Some(json!({}))
            }
            "Some" => {
                let inner = match ty {
                    Some(Ty::Known(known, arguments)) if known == "Option" => {
                        Some(self.type_argument(known, arguments, 0)?)
                    }
                    ty => ty.cloned(),
                };
                self.value_at(env, inner.as_ref(), argument, depth)
            }
            "Borrowed" | "Owned" | "V4" | "V6" | "new" | "from" | "Int" | "String" | "Quantity" | "Bool"
            | "into" => self.value_at(env, ty, argument, depth),
            _ => None,
        }
    }

    fn constructed(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        id: ItemId,
        arguments: &[ValueExpr],
        depth: usize,
    ) -> Option<Value> {
        self.check_item(ty, id)?;
        let derived = self.item(id).schemars.as_deref().filter(|derived| derived.derives_serialize)?;
        let Body::Tuple(fields) = &derived.body else { return None };
        self.tuple_value(env, id, fields, arguments, depth)
    }

    /// The content of a tuple struct or variant.
    fn tuple_value(
        &mut self,
        env: &Env,
        id: ItemId,
        fields: &[Field],
        arguments: &[ValueExpr],
        depth: usize,
    ) -> Option<Value> {
        if fields.len() != arguments.len() {
            return None;
        }
        let inner = Env::module(id.krate, id.module);
        let values: Option<Vec<Value>> = fields
            .iter()
            .zip(arguments)
            .map(|(field, argument)| {
                let ty = self.ty(&inner, &field.ty)?;
                self.value_at(env, Some(&ty), argument, depth)
            })
            .collect();
        let mut values = values?;
        Some(if values.len() == 1 { values.remove(0) } else { Value::Array(values) })
    }
}

/// `new()`, `default()` and `with_capacity(5)`
fn is_empty(name: &str, arguments: &[ValueExpr]) -> bool {
    match arguments {
        [] => matches!(name, "default" | "new"),
        [_] => name == "with_capacity",
        _ => false,
    }
}
