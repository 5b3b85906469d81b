//! Evaluates struct literals, with `..rest`, and the JSON that serde writes for structs and variants.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::defaults::add_type;
use super::pieces;
use super::types::{Dialect, Env, Param, Ty};
use crate::resolve::ItemId;
use crate::syntax::kube::{Body, Derived, Field, Variant};
use crate::syntax::{PathExpr, TypeExpr, ValueExpr};

impl Dialect<'_, '_> {
    pub(super) fn struct_literal(
        &mut self,
        env: &Env,
        ty: Option<&Ty>,
        path: &PathExpr,
        (given, rest): (&[(String, ValueExpr)], Option<&ValueExpr>),
        depth: usize,
    ) -> Option<Value> {
        let named =
            |dialect: &mut Self| dialect.quiet(|dialect| dialect.ty(env, &TypeExpr::Path(path.clone())));
        let ty = match ty.map(|ty| self.unwrapped(ty)) {
            // A literal of another type needs a conversion.
            Some(ty @ Ty::Item(id, _)) => match named(self) {
                Some(Ty::Item(other, _)) if other != id => return None,
                _ => ty,
            },
            Some(ty) => ty,
            None => self.quiet(|dialect| dialect.ty(env, &TypeExpr::Path(path.clone())))?,
        };
        let (id, params) = match &ty {
            Ty::Item(id, params) => (*id, params.clone()),
            Ty::Known(known, arguments) => {
                return self.known_literal(env, known, arguments, (given, rest), depth);
            }
            _ => return None,
        };
        let derived = self.item(id).schemars.as_deref()?;
        if let Body::Enum(variants) = &derived.body {
            let name = path.segments.last()?;
            let variant = variants.iter().find(|variant| variant.name.text == *name)?;
            let Body::Named(fields) = &variant.body else { return None };
            let content = self.fields_value(env, (id, &params), fields, (given, rest), &ty, depth)?;
            return self.variant(derived, variant, Some(content));
        }
        let Body::Named(fields) = &derived.body else { return None };
        self.fields_value(env, (id, &params), fields, (given, rest), &ty, depth)
    }

    pub(super) fn fields_value(
        &mut self,
        env: &Env,
        (id, params): (ItemId, &Rc<[Param]>),
        fields: &[Field],
        (given, rest): (&[(String, ValueExpr)], Option<&ValueExpr>),
        owner: &Ty,
        depth: usize,
    ) -> Option<Value> {
        let derived = self.item(id).schemars.as_deref()?;
        self.value_inside(id, params, |dialect, inner| {
            let mut values = Vec::with_capacity(fields.len());
            for field in fields.iter().filter(|field| !field.serde.skip_serializing) {
                let ty = dialect.ty(inner, &field.ty)?;
                let value = match given.iter().find(|(name, _)| *name == field.name.text) {
                    Some((_, value)) => dialect.value_at(env, Some(&ty), value, depth)?,
                    None => dialect.rest_field(env, rest?, owner, field, &ty, depth)?,
                };
                values.push((field, value, ty));
            }
            dialect.written(inner, derived, values)
        })
    }

    /// A literal of a Kubernetes type: the schema has the names of its fields.
    pub(super) fn known_literal(
        &mut self,
        env: &Env,
        path: &str,
        arguments: &[Param],
        (given, rest): (&[(String, ValueExpr)], Option<&ValueExpr>),
        depth: usize,
    ) -> Option<Value> {
        let schema = self.known(path, arguments)?;
        let properties = schema.get("properties")?.as_object()?;
        let mut out = match rest {
            Some(rest) => {
                let ty = Ty::Known(path.to_string(), arguments.into());
                self.value_at(env, Some(&ty), rest, depth)?.as_object()?.clone()
            }
            None => Map::new(),
        };
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        for (name, value) in given {
            let value = self.value_at(env, None, value, depth)?;
            let (property, schema) = properties.iter().find(|(known, _)| plain(known) == plain(name))?;
            if !value.is_null() {
                out.insert(
                    property.clone(),
                    if pieces::has_type(schema, "object") { paired(value) } else { value },
                );
            }
        }
        let mut out = Value::Object(out);
        add_type(path, &mut out);
        Some(out)
    }

    /// The fields of a struct as serde writes them.
    pub(super) fn written(
        &mut self,
        env: &Env,
        derived: &Derived,
        values: Vec<(&Field, Value, Ty)>,
    ) -> Option<Value> {
        if !derived.derives_serialize
            || derived.serde.written_as.is_some()
            || values.iter().any(|(field, ..)| field.serde.serialize_with)
        {
            return None;
        }
        let is_newtype = matches!(&derived.body, Body::Tuple(fields) if fields.len() == 1);
        if derived.serde.transparent || is_newtype {
            return values.into_iter().next().map(|(_, value, _)| value);
        }
        if matches!(derived.body, Body::Tuple(_)) {
            return Some(values.into_iter().map(|(_, value, _)| value).collect());
        }
        let mut out = Map::new();
        for (field, value, ty) in values {
            if self.is_skipped(env, field, &ty, &value)? {
                continue;
            }
            match (field.serde.flatten, value) {
                (true, Value::Object(members)) => out.extend(members),
                (true, Value::Null) => {}
                (true, _) => return None,
                (false, value) => {
                    out.insert(field.written.clone(), value);
                }
            }
        }
        Some(Value::Object(out))
    }

    /// A variant as serde writes it.
    pub(super) fn variant(
        &mut self,
        derived: &Derived,
        variant: &Variant,
        content: Option<Value>,
    ) -> Option<Value> {
        let serde = &derived.serde;
        if !derived.derives_serialize || serde.written_as.is_some() {
            return None;
        }
        let name = json!(variant.written);
        if serde.untagged || variant.untagged {
            return Some(content.unwrap_or(Value::Null));
        }
        Some(match (&serde.tag, &serde.content, content) {
            (None, _, None) if derived.is_repr => return None,
            (None, _, None) => name,
            (None, _, Some(content)) => json!({variant.written.as_str(): content}),
            (Some(tag), Some(key), Some(content)) => json!({tag: name, key: content}),
            (Some(tag), _, None) => json!({tag: name}),
            (Some(tag), None, Some(Value::Object(mut members))) => {
                members.insert(tag.clone(), name);
                Value::Object(members)
            }
            (Some(_), None, Some(_)) => return None,
        })
    }
}

/// The map from a list of pairs.
pub(super) fn paired(value: Value) -> Value {
    let Value::Array(items) = &value else { return value };
    let pairs = items.iter().map(|item| match item.as_array().map(Vec::as_slice) {
        Some([Value::String(key), value]) => Some((key.clone(), value.clone())),
        _ => None,
    });
    pairs.collect::<Option<Map<String, Value>>>().map_or_else(|| value.clone(), Value::Object)
}
