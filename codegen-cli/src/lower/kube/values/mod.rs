//! Evaluates values that are known without running the program, in the JSON that serde writes.

mod branches;
mod calls;
mod changes;
mod lists;
mod numbers;

use serde_json::{Map, Number, Value, json};

pub(super) use self::changes::assigned;
use self::numbers::limit;
use super::types::{Dialect, Env, Param, Ty};
use super::{enums, known};
use crate::resolve::{self, ItemId};
use crate::syntax::kube::Body;
use crate::syntax::{Conversion, PathExpr, TEXT_LIMIT, TypeExpr, ValueExpr, ValueKind};

/// The deepest nesting of values.
pub(super) const DEPTH_LIMIT: usize = 64;

impl<'a> Dialect<'_, 'a> {
    /// The JSON of an expression whose type is known, or that needs none.
    pub(super) fn value(&mut self, env: &Env, ty: Option<&Ty>, expr: &ValueExpr) -> Option<Value> {
        self.value_at(env, ty, expr, 0)
    }

    pub(super) fn value_at(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        expr: &ValueExpr,
        depth: usize,
    ) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        self.step()?;
        let found = self.nested(|dialect| dialect.value_of(env, ty, expr, depth + 1));
        if found.is_none() {
            self.beyond.get_or_insert(expr.loc);
        }
        found
    }

    fn value_of(&mut self, env: &Env, ty: Option<&Ty>, expr: &ValueExpr, depth: usize) -> Option<Value> {
        match &expr.kind {
            ValueKind::Path(path) => self.named(env, ty, path, depth),
            ValueKind::Call(path, arguments) => self.called(env, ty, path, arguments, depth),
            ValueKind::Struct(path, given, rest) => {
                self.struct_literal(env, ty, path, (given, rest.as_deref()), depth)
            }
            ValueKind::List(items) => self.list(env, ty, items, depth),
            ValueKind::Json(json) => self.json(env, json),
            ValueKind::Converted(conversion, inner) => self.converted(env, ty, *conversion, inner, depth),
            ValueKind::Block(variables, result) => {
                let inner = env.clone().with_block(variables);
                self.value_at(&inner, ty, result, depth)
            }
            ValueKind::Changed(before, changes) => self.value_after(env, ty, (before, changes), depth),
            ValueKind::Field(of, name) => self.field_of_value(env, ty, of, name, depth),
            ValueKind::Environment(fallback) => {
                self.environment.get_or_insert(expr.loc);
                match fallback {
                    Some(fallback) => self.value_at(env, ty, fallback, depth),
                    None => Some(Value::Null),
                }
            }
            ValueKind::Choice(subject, arms) => self.chosen(env, ty, (subject, arms), depth),
            ValueKind::Tuple(items) => {
                let types = match ty {
                    Some(Ty::Tuple(types)) if types.len() == items.len() => Some(types.clone()),
                    Some(_) => return None,
                    None => None,
                };
                let at = |at: usize| types.as_ref().map(|types| types[at].clone());
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| self.value_at(env, at(i).as_ref(), item, depth))
                    .collect()
            }
            _ => self.scalar(env, ty, expr),
        }
    }

    /// The result of a conversion. Conversions of the user's own types are unknown.
    fn converted(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        conversion: Conversion,
        inner: &ValueExpr,
        depth: usize,
    ) -> Option<Value> {
        match conversion {
            Conversion::Same => self.value_at(env, ty, inner, depth),
            _ if self.is_own(env, inner, depth) => None,
            Conversion::Into => {
                // `x.into()` is `Some(x)` where the type is an option.
                let wanted = match ty {
                    Some(Ty::Known(path, arguments)) if path == "Option" => {
                        Some(self.type_argument(path, arguments, 0)?)
                    }
                    ty => ty.cloned(),
                };
                let value = self.value_at(env, wanted.as_ref(), inner, depth)?;
                // The result for a list or map depends on the type.
                (wanted.is_some() || !(value.is_array() || value.is_object())).then_some(value)
            }
            Conversion::ToString => {
                let text = match self.value_at(env, None, inner, depth)? {
                    Value::String(text) => text,
                    Value::Bool(value) => value.to_string(),
                    Value::Number(number) if !number.is_f64() => number.to_string(),
                    _ => return None,
                };
                match ty.map(|ty| self.unwrapped(ty)) {
                    Some(Ty::Known(path, arguments)) => {
                        fitted(json!(text), &self.known(&path, &arguments)?, &path)
                    }
                    Some(_) => None,
                    None => Some(json!(text)),
                }
            }
        }
    }

    /// Whether the source of the value's type is read.
    fn is_own(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> bool {
        if depth > DEPTH_LIMIT || self.step().is_none() {
            return true;
        }
        match &expr.kind {
            ValueKind::Struct(..) => true,
            ValueKind::Converted(_, inner) | ValueKind::Changed(inner, _) => {
                self.is_own(env, inner, depth + 1)
            }
            ValueKind::Path(path) | ValueKind::Call(path, _) => {
                if let Some((_, outer, argument)) = env.local(path) {
                    return self.is_own(&outer.clone(), &argument.clone(), depth + 1);
                }
                match self.resolve_value(env, path) {
                    Some(resolve::Value::Variant(..) | resolve::Value::Constructor(_)) => true,
                    Some(resolve::Value::Item(krate, module, item)) => {
                        let inner = Env::module(krate, module).owned(self.owner_of(env, path));
                        let body = match &item.expr.kind {
                            ValueKind::Function(_, body) => body,
                            _ => &item.expr,
                        };
                        self.is_own(&inner, body, depth + 1)
                    }
                    _ => {
                        path.segments.last().is_some_and(|name| name == "default")
                            && matches!(self.owner_of(env, path), Some(Ty::Item(..)))
                    }
                }
            }
            ValueKind::Choice(_, arms) => arms.iter().any(|(_, result)| self.is_own(env, result, depth + 1)),
            ValueKind::Block(variables, result) => {
                self.is_own(&env.clone().with_block(variables), result, depth + 1)
            }
            _ => false,
        }
    }

    fn scalar(&mut self, env: &Env, ty: Option<&Ty>, expr: &ValueExpr) -> Option<Value> {
        let ty = ty.map(|ty| self.unwrapped(ty));
        let value = match &expr.kind {
            ValueKind::Text(text) => json!(text),
            ValueKind::Bool(value) => json!(value),
            ValueKind::Float(value) => Value::Number(Number::from_f64(*value)?),
            ValueKind::Neg(inner) if matches!(inner.kind, ValueKind::Float(_)) => {
                let ValueKind::Float(value) = inner.kind else { return None };
                Value::Number(Number::from_f64(-value)?)
            }
            ValueKind::Test(test, left, right) => json!(self.tested(env, *test, (left, right), 0)?),
            ValueKind::Not(inner) => json!(!self.value_at(env, None, inner, 0)?.as_bool()?),
            ValueKind::Format(pieces, arguments) => json!(self.formatted(env, pieces, arguments)?),
            _ => match self.whole(env, expr, 0) {
                Some(value) => enums::integer(value)?,
                None => Value::Number(Number::from_f64(self.fraction(env, expr, 0)?)?),
            },
        };
        match ty {
            None => Some(value),
            Some(Ty::Known(path, arguments)) => fitted(value, &self.known(&path, &arguments)?, &path),
            // The user's own types need a constructor; their conversions are unknown.
            Some(_) => None,
        }
    }

    /// The text of `format!` with texts and integers.
    fn formatted(&mut self, env: &Env, pieces: &[String], arguments: &[ValueExpr]) -> Option<String> {
        let mut out = String::new();
        for (at, piece) in pieces.iter().enumerate() {
            out.push_str(piece);
            if let Some(argument) = arguments.get(at) {
                if self.is_own(env, argument, 1) {
                    return None;
                }
                match self.value_at(env, None, argument, 1)? {
                    Value::String(text) => out.push_str(&text),
                    Value::Number(number) if !number.is_f64() => out.push_str(&number.to_string()),
                    Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
                    _ => return None,
                }
            }
            if out.len() > TEXT_LIMIT {
                return None;
            }
        }
        Some(out)
    }

    /// The type without pointers and options: `Some` and `Box::new` leave the JSON as it is.
    pub(super) fn unwrapped(&mut self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Known(path, arguments) = &ty {
            let inner = match arguments.first() {
                Some(Param::Type(inner)) if path == "Option" || known::is_transparent(path) => inner.clone(),
                _ => break,
            };
            ty = inner;
        }
        ty
    }

    fn named(&mut self, env: &Env, ty: Option<&Ty>, path: &PathExpr, depth: usize) -> Option<Value> {
        if let Some((_, outer, argument)) = env.local(path) {
            return self.value_at(outer, ty, argument, depth);
        }
        match self.resolve_value(env, path)? {
            resolve::Value::Item(krate, module, item) => {
                let inner = Env::module(krate, module).owned(self.owner_of(env, path));
                self.value_at(&inner, ty, &item.expr, depth)
            }
            resolve::Value::Variant(id, name) => {
                let derived = self.item(id).schemars.as_deref()?;
                self.check_item(ty, id)?;
                let Body::Enum(variants) = &derived.body else { return None };
                let variant = variants.iter().find(|variant| variant.name.text == name)?;
                self.variant(derived, variant, None)
            }
            resolve::Value::Constructor(id) => {
                self.check_item(ty, id)?;
                matches!(self.item(id).schemars.as_ref()?.body, Body::Unit).then_some(Value::Null)
            }
            resolve::Value::External(path) if path.rsplit("::").next() == Some("None") => Some(Value::Null),
            resolve::Value::External(path) => limit(&path).or_else(|| external(&path)),
        }
    }

    /// Refuses a value of another type, whose conversion is unknown.
    pub(super) fn check_item(&mut self, ty: Option<&Ty>, id: ItemId) -> Option<()> {
        match ty.map(|ty| self.unwrapped(ty)) {
            Some(Ty::Item(expected, _)) => (expected == id).then_some(()),
            Some(_) => None,
            None => Some(()),
        }
    }

    pub(super) fn resolve_value(&self, env: &Env, path: &PathExpr) -> Option<resolve::Value<'a>> {
        if let Some(name) = path.segments.first()
            && (name == "Self" || path.segments.len() > 1)
            && let Some(Ty::Item(id, _)) = env.type_of(name)
        {
            let mut path = path.clone();
            path.segments[0].clone_from(&self.item(*id).name.text);
            return self.ctx.resolver.value(id.krate, id.module, &path);
        }
        self.ctx.resolver.value(env.krate, env.module, path)
    }

    /// The type of `Self` in an associated function.
    pub(super) fn owner_of(&mut self, env: &Env, path: &PathExpr) -> Option<Ty> {
        let (_, rest) = path.segments.split_last()?;
        if rest.is_empty() || rest == ["Self"] {
            return env.owner.clone();
        }
        let owner = PathExpr { segments: rest.to_vec(), arguments: Vec::new(), ..path.clone() };
        self.quiet(|dialect| dialect.ty(env, &TypeExpr::Path(owner)))
    }
}

impl Env {
    /// The type that `Self`, or a parameter, is.
    fn type_of(&self, name: &str) -> Option<&Ty> {
        if name == "Self" {
            return self.owner.as_ref();
        }
        self.params.iter().find(|(known, _)| known == name).and_then(|(_, param)| match param {
            Param::Type(ty) => Some(ty),
            _ => None,
        })
    }
}

/// Constants of other crates.
fn external(path: &str) -> Option<Value> {
    if let Some(method) = path.strip_prefix("http::Method::") {
        let is_constant = method.bytes().all(|byte| byte.is_ascii_uppercase());
        return is_constant.then(|| json!(method));
    }
    if let Some(value) = crate::known::kinds::constant(path) {
        return Some(json!(value));
    }
    Some(match path {
        "std::net::Ipv4Addr::LOCALHOST" => json!("127.0.0.1"),
        "std::net::Ipv4Addr::UNSPECIFIED" => json!("0.0.0.0"),
        "std::net::Ipv6Addr::LOCALHOST" => json!("::1"),
        "std::net::Ipv6Addr::UNSPECIFIED" => json!("::"),
        _ => return None,
    })
}

/// The JSON of a type's empty value, by its schema. Required fields are present.
pub(super) fn empty_value(schema: &Value) -> Option<Value> {
    let kind = match schema.get("type")? {
        Value::String(kind) => kind.as_str(),
        _ => return None,
    };
    Some(match kind {
        "string" if schema.get("format").is_none() && schema.get("enum").is_none() => json!(""),
        "boolean" => json!(false),
        "integer" => json!(0),
        "number" => json!(0.0),
        "array" => json!([]),
        "null" => Value::Null,
        "object" => {
            let mut out = Map::new();
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                let name = name.as_str()?;
                out.insert(name.to_string(), empty_value(schema.get("properties")?.get(name)?)?);
            }
            Value::Object(out)
        }
        _ => return None,
    })
}

/// The value of a literal converted to a known type.
fn fitted(value: Value, schema: &Value, path: &str) -> Option<Value> {
    let is = |name: &str| super::pieces::has_type(schema, name);
    let fits = match &value {
        Value::String(_) => {
            is("string")
                || path.ends_with("::IntOrString")
                || path.ends_with("::Quantity")
                || path == "serde_json::Value"
        }
        Value::Bool(_) => is("boolean") || path == "serde_json::Value",
        Value::Number(_) => {
            is("integer") || is("number") || path.ends_with("::IntOrString") || path == "serde_json::Value"
        }
        _ => false,
    };
    if !fits {
        return None;
    }
    Some(match path {
        #[allow(clippy::cast_possible_truncation, reason = "serde writes the nearest f32")]
        "f32" => json!(f64::from(value.as_f64()? as f32)),
        "f64" => json!(value.as_f64()?),
        _ => value,
    })
}
