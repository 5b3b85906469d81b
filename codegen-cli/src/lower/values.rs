//! Evaluates values that are known without running the program: lengths, arguments of const parameters, and
//! defaults that are literals or simple expressions of them.

use kubesmith_core::diag::Code;
use serde_json::{Map, Number, Value as Json};

use super::Ctx;
use super::generics::{Arg, Scope};
use crate::diag::Diagnostic;
use crate::ir::{Enum, Field, Shape, Tagging, TypeRef};
use crate::known::{self, Simple};
use crate::resolve::Value;
use crate::syntax::{Conversion, PathExpr, ValueExpr, ValueKind, fits};

/// The longest chain of constants.
const LIMIT: usize = 32;

impl Ctx<'_> {
    /// The integer value of an expression.
    pub(crate) fn integer(&self, scope: &Scope, expr: &ValueExpr) -> Option<i128> {
        self.integer_at(scope, expr, 0)
    }

    fn integer_at(&self, scope: &Scope, expr: &ValueExpr, depth: usize) -> Option<i128> {
        if depth > LIMIT {
            return None;
        }
        match &expr.kind {
            ValueKind::Int(value) => Some(*value),
            ValueKind::Converted(_, inner) => self.integer_at(scope, inner, depth + 1),
            ValueKind::Cast(inner, name) => {
                let value = self.integer_at(scope, inner, depth + 1)?;
                fits(value, name).then_some(value)
            }
            ValueKind::Neg(inner) => self.integer_at(scope, inner, depth)?.checked_neg(),
            ValueKind::Binary(operator, a, b) => {
                let (a, b) = (self.integer_at(scope, a, depth)?, self.integer_at(scope, b, depth)?);
                operator.apply(a, b)
            }
            ValueKind::Path(path) => {
                if let (Some(Arg::Value(value)), 1) = (scope.param(&path.segments[0]), path.segments.len()) {
                    return Some(*value);
                }
                let (scope, expr) = self.constant(scope, path)?;
                self.integer_at(&scope, expr, depth + 1)
            }
            ValueKind::Call(path, arguments) if arguments.is_empty() => {
                let (scope, expr) = self.constant(scope, path)?;
                self.integer_at(&scope, expr, depth + 1)
            }
            _ => None,
        }
    }

    /// The expression and scope of a constant or function.
    fn constant(&self, scope: &Scope, path: &PathExpr) -> Option<(Scope, &ValueExpr)> {
        match self.value_of(scope, path)? {
            Value::Item(krate, module, item) => Some((Scope::of_module(krate, module), &item.expr)),
            _ => None,
        }
    }

    /// Returns the target of a path; `Self` is the type being lowered.
    fn value_of(&self, scope: &Scope, path: &PathExpr) -> Option<Value<'_>> {
        let (true, Some((id, _))) = (path.segments[0] == "Self", self.open.last()) else {
            return self.resolver.value(scope.krate, scope.module, path);
        };
        let mut path = path.clone();
        path.segments[0].clone_from(&self.resolver.item(*id).name.text);
        self.resolver.value(id.krate, id.module, &path)
    }

    /// The JSON that a function without parameters returns, if it is known.
    pub(super) fn default_value(&self, scope: &Scope, function: &PathExpr, ty: &TypeRef) -> Option<Json> {
        let Some((scope, expr)) = self.constant(scope, function) else {
            // `default = "Vec::new"`
            let Value::External(path) = self.value_of(scope, function)? else { return None };
            return self.made(&path, &[], scope, ty, 0);
        };
        self.json(&scope, expr, ty, 0)
    }

    /// The JSON of a constant named as a default; reports a missing or unknown one.
    pub(super) fn default_constant(
        &mut self,
        scope: &Scope,
        constant: &PathExpr,
        ty: &TypeRef,
    ) -> Option<Json> {
        let value = self.named_json(scope, constant, ty, 0);
        if value.is_some() {
            return value;
        }
        let name = constant.segments.join("::");
        let found = self.value_of(scope, constant);
        let (message, help) = match found {
            Some(Value::External(path)) if path.contains("::") => (
                format!("`{path}` is of a crate that is not read"),
                "write the value itself, or name a constant of your own crate",
            ),
            None | Some(Value::External(_)) => (
                format!("there is no constant `{name}` here"),
                "write its path as in code: `ref(crate::defaults::SIZE)`; what macros make is not seen",
            ),
            Some(_) => (
                format!("the value of `{name}` is not known, or does not fit the field's type"),
                "let it be a literal, or made of such: numbers, strings, lists, structs and variants",
            ),
        };
        let mistake = Diagnostic::error(Code::DEFAULT_CONSTANT, constant.loc, message).help(help);
        self.diagnostics.push(mistake.note("the source is read without running it"));
        None
    }

    fn json(&self, scope: &Scope, expr: &ValueExpr, ty: &TypeRef, depth: usize) -> Option<Json> {
        if depth > LIMIT {
            return None;
        }
        let depth = depth + 1;
        match &expr.kind {
            // Conversions of user types depend on their implementations.
            ValueKind::Converted(Conversion::Into, inner) if is_named(ty) && !is_literal(inner) => {
                return None;
            }
            ValueKind::Converted(_, inner) => return self.json(scope, inner, ty, depth),
            ValueKind::Cast(inner, name) if matches!(name.as_str(), "f32" | "f64") => {
                return self.json(scope, inner, ty, depth);
            }
            _ => {}
        }
        if let TypeRef::Nullable(inner) = ty {
            return self.json(scope, expr, inner, depth);
        }
        if let TypeRef::Named(id) = ty
            && let Shape::Newtype(element) = &self.types[id.0 as usize].shape
            && !matches!(expr.kind, ValueKind::Call(..) | ValueKind::Path(_))
        {
            return self.json(scope, expr, &element.ty, depth);
        }
        match (&expr.kind, ty) {
            (ValueKind::Path(path), _) => self.named_json(scope, path, ty, depth),
            (ValueKind::Call(path, arguments), _) => self.call_json(scope, path, arguments, ty, depth),
            (ValueKind::List(items), TypeRef::List(item) | TypeRef::Array(item, _)) => {
                items.iter().map(|value| self.json(scope, value, item, depth)).collect()
            }
            (ValueKind::Tuple(items), TypeRef::Tuple(types)) if items.len() == types.len() => {
                items.iter().zip(types).map(|(value, ty)| self.json(scope, value, ty, depth)).collect()
            }
            (ValueKind::Struct(_, values, None), TypeRef::Named(id)) => {
                match &self.types[id.0 as usize].shape {
                    Shape::Struct(fields) => self.object(scope, values, fields, depth),
                    _ => None,
                }
            }
            (_, TypeRef::Known(path)) => self.scalar(scope, expr, known::simple(path)?),
            _ => None,
        }
    }

    fn scalar(&self, scope: &Scope, expr: &ValueExpr, kind: Simple) -> Option<Json> {
        match (kind, &expr.kind) {
            (Simple::Text | Simple::IntOrText, ValueKind::Text(text)) => Some(Json::String(text.clone())),
            (Simple::Boolean, ValueKind::Bool(value)) => Some(Json::Bool(*value)),
            (Simple::Number, ValueKind::Float(value)) => Number::from_f64(*value).map(Json::Number),
            (Simple::Number, ValueKind::Neg(inner)) => match self.scalar(scope, inner, kind)? {
                Json::Number(number) => Number::from_f64(-number.as_f64()?).map(Json::Number),
                _ => None,
            },
            (Simple::Integer | Simple::IntOrText, _) => {
                let value = self.integer(scope, expr)?;
                i64::try_from(value).map(Json::from).or_else(|_| u64::try_from(value).map(Json::from)).ok()
            }
            _ => None,
        }
    }

    /// A constant, or a variant without content.
    fn named_json(&self, scope: &Scope, path: &PathExpr, ty: &TypeRef, depth: usize) -> Option<Json> {
        match self.value_of(scope, path)? {
            Value::Item(krate, module, item) => {
                self.json(&Scope::of_module(krate, module), &item.expr, ty, depth)
            }
            Value::Variant(_, name) => self.variant_json(ty, &name, None),
            _ => None,
        }
    }

    fn call_json(
        &self,
        scope: &Scope,
        path: &PathExpr,
        arguments: &[ValueExpr],
        ty: &TypeRef,
        depth: usize,
    ) -> Option<Json> {
        match (self.value_of(scope, path)?, arguments) {
            (Value::Item(krate, module, item), []) => {
                self.json(&Scope::of_module(krate, module), &item.expr, ty, depth)
            }
            (Value::Constructor(_), [argument]) => match self.shape(ty)? {
                Shape::Newtype(element) => self.json(scope, argument, &element.ty, depth),
                _ => None,
            },
            (Value::Variant(_, name), [argument]) => {
                let Shape::Enum(definition) = self.shape(self.bare(ty))? else { return None };
                let variant = definition.variants.iter().find(|variant| variant.rust_name == name)?;
                let content = self.json(scope, argument, &variant.content.as_ref()?.ty, depth)?;
                self.variant_json(ty, &name, Some(content))
            }
            (Value::External(path), _) => self.made(&path, arguments, scope, ty, depth),
            _ => None,
        }
    }

    /// The values of other crates' constructors.
    fn made(
        &self,
        path: &str,
        arguments: &[ValueExpr],
        scope: &Scope,
        ty: &TypeRef,
        depth: usize,
    ) -> Option<Json> {
        let name = path.rsplit("::").next().unwrap_or(path);
        match (name, arguments) {
            // Wrappers and conversions that keep the value, and constructors of known newtypes.
            ("Some" | "new" | "from" | "Int" | "String" | "Quantity", [argument]) => {
                self.json(scope, argument, ty, depth)
            }
            ("new" | "default", []) => match self.bare_default(path, ty) {
                TypeRef::List(_) => Some(Json::Array(Vec::new())),
                TypeRef::Map(_) => Some(Json::Object(Map::new())),
                TypeRef::Known(path) if path == "String" => Some(Json::String(String::new())),
                _ => None,
            },
            _ => None,
        }
    }

    /// The type that a constructor makes. `Default::default` makes the type itself, which may have its own
    /// default.
    fn bare_default<'t>(&'t self, path: &str, ty: &'t TypeRef) -> &'t TypeRef {
        if path.ends_with("Default::default") { ty } else { self.bare(ty) }
    }

    fn shape(&self, ty: &TypeRef) -> Option<&Shape> {
        match ty {
            TypeRef::Named(id) => Some(&self.types[id.0 as usize].shape),
            _ => None,
        }
    }

    fn variant_json(&self, ty: &TypeRef, name: &str, content: Option<Json>) -> Option<Json> {
        let Shape::Enum(Enum { tagging, variants }) = self.shape(self.bare(ty))? else { return None };
        let variant = variants.iter().find(|variant| variant.rust_name == name)?;
        let text = Json::String(variant.name.clone());
        let object = |members: Vec<(String, Json)>| Some(Json::Object(members.into_iter().collect()));
        match (tagging, content) {
            (_, content) if variant.untagged => content,
            (Tagging::External, None) => Some(text),
            (Tagging::External, Some(content)) => object(vec![(variant.name.clone(), content)]),
            (Tagging::Adjacent { tag, .. } | Tagging::Internal { tag }, None) => {
                object(vec![(tag.clone(), text)])
            }
            (Tagging::Adjacent { tag, content: key }, Some(content)) => {
                object(vec![(tag.clone(), text), (key.clone(), content)])
            }
            (Tagging::Internal { tag }, Some(Json::Object(mut members))) => {
                members.insert(tag.clone(), text);
                Some(Json::Object(members))
            }
            (Tagging::Untagged, content) => content,
            (Tagging::Internal { .. }, Some(_)) => None,
        }
    }

    /// A struct literal. Fields that are not in the JSON are ignored.
    fn object(
        &self,
        scope: &Scope,
        values: &[(String, ValueExpr)],
        fields: &[Field],
        depth: usize,
    ) -> Option<Json> {
        let mut out = Map::new();
        for field in fields {
            let (_, value) = values.iter().find(|(name, _)| *name == field.rust_name)?;
            let is_none = matches!(&value.kind, ValueKind::Path(path) if path.segments == ["None"]);
            if field.flatten {
                return None;
            }
            if !is_none {
                out.insert(field.name.clone(), self.json(scope, value, &field.ty, depth)?);
            }
        }
        Some(Json::Object(out))
    }
}

fn is_literal(expr: &ValueExpr) -> bool {
    matches!(expr.kind, ValueKind::Text(_) | ValueKind::Int(_) | ValueKind::Bool(_))
}

/// Whether the type is defined in the input, possibly inside options.
fn is_named(ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Named(_) => true,
        TypeRef::Nullable(inner) => is_named(inner),
        _ => false,
    }
}
