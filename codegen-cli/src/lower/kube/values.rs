//! Values that are known before the program runs, in the JSON that serde writes.

use serde_json::{Map, Number, Value, json};

use super::literals::paired;
use super::types::{Dialect, Env, Param, Ty};
use super::{enums, known};
use crate::load::ModuleId;
use crate::resolve::{self, ItemId};
use crate::syntax::kube::{Body, Field};
use crate::syntax::{self, Conversion, Operator, PathExpr, TypeExpr, ValueExpr, ValueKind};

/// How deep values may consist of each other.
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
        self.nested(|dialect| dialect.value_of(env, ty, expr, depth + 1))
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

    /// What a conversion makes. What those of own types do is not known.
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
                // `x.into()` is `Some(x)` where an option is wanted.
                let wanted = match ty {
                    Some(Ty::Known(path, arguments)) if path == "Option" => {
                        Some(self.type_argument(path, arguments, 0)?)
                    }
                    ty => ty.cloned(),
                };
                let value = self.value_at(env, wanted.as_ref(), inner, depth)?;
                // What a list or map is converted into depends on the type.
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

    /// Whether the value is one of a type whose source is read.
    fn is_own(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> bool {
        if depth > DEPTH_LIMIT || self.step().is_none() {
            return true;
        }
        match &expr.kind {
            ValueKind::Struct(..) => true,
            ValueKind::Converted(_, inner) => self.is_own(env, inner, depth + 1),
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
            // A constructor would have been named; conversions of own types are not known.
            Some(_) => None,
        }
    }

    /// The integer that an expression is.
    pub(super) fn whole(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> Option<i128> {
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
            // A fraction, whatever it is made of.
            ValueKind::Call(path, _) if is_fraction(path) => None,
            ValueKind::Path(_) | ValueKind::Call(..) => {
                let value = self.value_at(env, None, expr, depth + 1)?;
                value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
            }
            _ => None,
        }
    }

    /// The fraction that an expression is.
    fn fraction(&mut self, env: &Env, expr: &ValueExpr, depth: usize) -> Option<f64> {
        match &expr.kind {
            ValueKind::Binary(operator, left, right) if depth < DEPTH_LIMIT => {
                let (left, right) =
                    (self.fraction(env, left, depth + 1)?, self.fraction(env, right, depth + 1)?);
                match operator {
                    Operator::Add => Some(left + right),
                    Operator::Sub => Some(left - right),
                    Operator::Mul => Some(left * right),
                    Operator::Div => Some(left / right),
                    Operator::Rem | Operator::ShiftLeft => None,
                }
            }
            ValueKind::Float(value) => Some(*value),
            #[allow(clippy::cast_possible_truncation, reason = "that is what the cast does")]
            ValueKind::Cast(inner, name) if name == "f32" => {
                self.fraction(env, inner, depth + 1).map(|value| f64::from(value as f32))
            }
            ValueKind::Cast(inner, name) if name == "f64" => match &inner.kind {
                // A constant of another size loses digits before it is cast.
                ValueKind::Path(_) => self.whole(env, inner, depth + 1).and_then(exact),
                _ => self.fraction(env, inner, depth + 1),
            },
            ValueKind::Call(path, arguments) if is_fraction(path) => {
                self.whole(env, arguments.first()?, depth + 1).and_then(exact)
            }
            ValueKind::Int(value) => exact(*value),
            ValueKind::Neg(inner) => self.fraction(env, inner, depth + 1).map(|value| -value),
            ValueKind::Path(_) => self.value_at(env, None, expr, depth + 1)?.as_f64(),
            _ => None,
        }
    }

    /// What `format!` makes of texts and integers.
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
            resolve::Value::External(path) => limit(&path).or_else(|| address(&path)),
        }
    }

    /// A value that is converted into another type is not known.
    pub(super) fn check_item(&mut self, ty: Option<&Ty>, id: ItemId) -> Option<()> {
        match ty.map(|ty| self.unwrapped(ty)) {
            Some(Ty::Item(expected, _)) => (expected == id).then_some(()),
            Some(_) => None,
            None => Some(()),
        }
    }

    pub(super) fn resolve_value(&self, env: &Env, path: &PathExpr) -> Option<resolve::Value<'a>> {
        if path.segments.first().is_some_and(|name| name == "Self")
            && let Some(Ty::Item(id, _)) = &env.owner
        {
            let mut path = path.clone();
            path.segments[0].clone_from(&self.item(*id).name.text);
            return self.ctx.resolver.value(id.krate, id.module, &path);
        }
        self.ctx.resolver.value(env.krate, env.module, path)
    }

    fn called(
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
            (_, []) if last == "default" || last == "new" => match (self.owner_of(env, path), ty) {
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

    /// The scope inside of a function, with its arguments.
    pub(super) fn call_env(
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

    /// What `Self` is in an associated function.
    fn owner_of(&mut self, env: &Env, path: &PathExpr) -> Option<Ty> {
        let (_, rest) = path.segments.split_last()?;
        if rest.is_empty() || rest == ["Self"] {
            return env.owner.clone();
        }
        let owner = PathExpr { segments: rest.to_vec(), arguments: Vec::new(), ..path.clone() };
        self.quiet(|dialect| dialect.ty(env, &TypeExpr::Path(owner)))
    }

    /// What constructors of other crates make of their argument.
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
        let is_set = |ty: &Ty| matches!(ty, Ty::Known(known, _) if known.ends_with("Set"));
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

    fn list(&mut self, env: &Env, ty: Option<&Ty>, items: &[ValueExpr], depth: usize) -> Option<Value> {
        let ty = ty.map(|ty| self.unwrapped(ty));
        match ty {
            None => items.iter().map(|item| self.value_at(env, None, item, depth)).collect(),
            Some(Ty::Slice(item) | Ty::Array(item, _)) => {
                items.iter().map(|value| self.value_at(env, Some(&item), value, depth)).collect()
            }
            Some(Ty::Known(path, arguments)) => {
                let first = self.type_argument(&path, &arguments, 0)?;
                if arguments.len() < 2 || path.ends_with("Set") {
                    let values = items.iter().map(|value| self.value_at(env, Some(&first), value, depth));
                    let mut values: Vec<Value> = values.collect::<Option<_>>()?;
                    // The order of a hash set is nobody's.
                    if matches!(path.as_str(), "std::collections::BTreeSet" | "std::collections::HashSet") {
                        // The order of other types is theirs.
                        let is_plain = |value: &Value| value.is_string() || value.is_i64() || value.is_u64();
                        if values.len() > 1 && (!values.iter().all(is_plain) || matches!(first, Ty::Item(..)))
                        {
                            return None;
                        }
                        values.sort_by_key(sort_key);
                    }
                    if path.ends_with("Set") {
                        let all = std::mem::take(&mut values);
                        values = all.into_iter().fold(Vec::new(), |mut kept, value| {
                            if !kept.contains(&value) {
                                kept.push(value);
                            }
                            kept
                        });
                    }
                    return Some(Value::Array(values));
                }
                let second = self.type_argument(&path, &arguments, 1)?;
                let mut out = Map::new();
                for item in items {
                    let ValueKind::Tuple(pair) = &item.kind else { return None };
                    let [key, value] = &pair[..] else { return None };
                    let key = self.value_at(env, Some(&first), key, depth)?;
                    out.insert(key.as_str()?.to_string(), self.value_at(env, Some(&second), value, depth)?);
                }
                Some(Value::Object(out))
            }
            Some(_) => None,
        }
    }
}

/// `f64::from`
fn is_fraction(path: &PathExpr) -> bool {
    matches!(path.segments.as_slice(), [.., owner, _] if matches!(owner.as_str(), "f32" | "f64"))
}

/// The integer as a fraction, if it is exactly one.
fn exact(value: i128) -> Option<f64> {
    i32::try_from(value).ok().map(f64::from)
}

/// Numbers by size, everything else by its text.
fn sort_key(value: &Value) -> (Option<i64>, String) {
    (value.as_i64(), value.as_str().map_or_else(|| value.to_string(), str::to_string))
}

/// The addresses that the standard library names.
fn address(path: &str) -> Option<Value> {
    Some(match path {
        "std::net::Ipv4Addr::LOCALHOST" => json!("127.0.0.1"),
        "std::net::Ipv4Addr::UNSPECIFIED" => json!("0.0.0.0"),
        "std::net::Ipv6Addr::LOCALHOST" => json!("::1"),
        "std::net::Ipv6Addr::UNSPECIFIED" => json!("::"),
        _ => return None,
    })
}

/// `i32::MAX` and its kin.
fn limit(path: &str) -> Option<Value> {
    let (ty, name) = path.rsplit_once("::")?;
    macro_rules! limits {
        ($($int:ident),*) => {
            match (ty.rsplit("::").next()?, name) {
                $((stringify!($int), "MAX") => Some(json!($int::MAX)), (stringify!($int), "MIN") => Some(json!($int::MIN)),)*
                ("usize", "MAX") => Some(json!(u64::MAX)),
                ("usize", "MIN") => Some(json!(0)),
                ("isize", "MAX") => Some(json!(i64::MAX)),
                ("isize", "MIN") => Some(json!(i64::MIN)),
                (unsigned, "MIN") if unsigned.starts_with("NonZeroU") => Some(json!(1)),
                _ => None,
            }
        };
    }
    limits!(i8, i16, i32, i64, u8, u16, u32, u64)
}

/// The JSON of a type's empty value, as far as its schema tells: required fields are there.
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

/// The value of a literal as one of a known type.
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
