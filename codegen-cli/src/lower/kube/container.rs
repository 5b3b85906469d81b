//! Builds schemas of types and fields, like the code of schemars' derive macro (`schema_exprs.rs`).

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Value, json};

use super::types::{Dialect, Env, Param, SIZE_LIMIT, Ty};
use super::{pieces, schemars_0_8};
use crate::diag::Diagnostic;
use crate::resolve::ItemId;
use crate::syntax::TypeExpr;
use crate::syntax::kube::{Body, Container, DefaultExpr, Derived, Field, Validation, With};
use kubesmith_core::diag::Code;

impl Dialect<'_, '_> {
    /// The schema of a type; `None` after a diagnostic.
    pub(super) fn schema(&mut self, ty: &Ty) -> Option<Value> {
        Some(match ty {
            Ty::Item(id, params) => return self.item_schema(*id, params),
            Ty::Known(path, arguments) => return self.known(path, arguments),
            Ty::Slice(item) => json!({"type": "array", "items": self.schema(item)?}),
            Ty::Array(_, 0) => json!({"type": "array", "maxItems": 0}),
            Ty::Array(item, len) => {
                json!({"type": "array", "items": self.schema(item)?, "minItems": len, "maxItems": len})
            }
            Ty::Tuple(items) if items.is_empty() => json!({"type": "null"}),
            Ty::Tuple(items) => {
                let len = items.len();
                let items: Option<Vec<Value>> = items.iter().map(|item| self.schema(item)).collect();
                json!({"type": "array", "prefixItems": items?, "minItems": len, "maxItems": len})
            }
        })
    }

    /// The schema of a type without its `Option`, which `required` and `flatten` remove.
    pub(super) fn non_optional(&mut self, ty: &Ty) -> Option<Value> {
        let inner = self.unwrapped_once(ty);
        match self.nested(|dialect| inner.map(|inner| dialect.non_optional(&inner))) {
            Some(schema) => schema,
            // A type that contains itself is reported when its schema is made.
            None => self.schema(ty),
        }
    }

    fn unwrapped_once(&mut self, ty: &Ty) -> Option<Ty> {
        self.forwarded(ty).map(|forward| match forward {
            Forward::Option(inner) | Forward::Same(inner) => inner,
        })
    }

    /// Whether values may be left out.
    pub(super) fn is_option(&mut self, ty: &Ty) -> bool {
        match self.forwarded(ty) {
            Some(Forward::Option(_)) => true,
            Some(Forward::Same(inner)) => {
                self.nested(|dialect| Some(dialect.is_option(&inner))).unwrap_or(false)
            }
            None => false,
        }
    }

    /// The type behind an `Option`, a pointer or a transparent struct.
    fn forwarded(&mut self, ty: &Ty) -> Option<Forward> {
        match ty {
            Ty::Known(path, arguments) => {
                let Some(Param::Type(inner)) = arguments.first() else { return None };
                let inner = inner.clone();
                match path.as_str() {
                    "Option" => Some(Forward::Option(inner)),
                    path => super::known::is_transparent(path).then_some(Forward::Same(inner)),
                }
            }
            Ty::Item(id, params) => {
                let derived = self.item(*id).schemars.as_deref().filter(|derived| derived.derives_schema)?;
                let ty = if self.locked.is_schemars_0_8() {
                    schemars_0_8::forwarded_type(derived)?
                } else {
                    forwarded_type(derived)?
                };
                self.inside(*id, params, |dialect, env| dialect.ty(env, ty)).map(Forward::Same)
            }
            _ => None,
        }
    }

    fn item_schema(&mut self, id: ItemId, params: &Rc<[Param]>) -> Option<Value> {
        let ty = Ty::Item(id, params.clone());
        if let Some(known) = self.done.get(&ty) {
            return known.as_ref().map(|(schema, _)| schema.clone());
        }
        if let Some(at) = self.open.iter().position(|open| *open == ty) {
            return Some(self.reference(id, &ty, at));
        }
        let item = self.item(id);
        if item.unread.as_ref().is_some_and(|unread| unread.of_kube) {
            self.ctx.report_unread_attribute(id, item);
        }
        let (depth, outer) = (self.open.len(), std::mem::replace(&mut self.outermost, usize::MAX));
        let schema = self.inside(id, params, |dialect, env| match &item.schemars {
            Some(derived) if derived.derives_schema => dialect.container(env, derived),
            _ => dialect.manual(env, id),
        });
        let schema = schema.map(|schema| {
            let size = size(&schema);
            (schema, size)
        });
        let too_large = schema.as_ref().is_some_and(|(_, size)| *size > SIZE_LIMIT);
        let schema = if too_large {
            let message = format!("the schema of `{}` has more than {SIZE_LIMIT} parts", item.name.text);
            self.error(
                Diagnostic::error(Code::SCHEMA_TOO_LARGE, item.name.loc, message)
                    .help("leave a part open with `#[schemars(with = \"serde_json::Value\")]`"),
            );
            None
        } else {
            schema
        };
        // A schema that refers to an enclosing type differs elsewhere, so it is not cached.
        if self.outermost >= depth {
            self.outermost = usize::MAX;
            self.done.insert(ty, schema.clone());
        }
        self.outermost = self.outermost.min(outer);
        schema.map(|(schema, _)| schema)
    }

    /// Returns a reference, as schemars does for a type inside itself: a function may remove it later.
    fn reference(&mut self, id: ItemId, ty: &Ty, at: usize) -> Value {
        self.outermost = self.outermost.min(at);
        let found = self.cycle(id, ty);
        let number = self.cycles.iter().position(|known| *known == found).unwrap_or_else(|| {
            self.cycles.push(found);
            self.cycles.len() - 1
        });
        json!({"$ref": format!("{RECURSION}{number}")})
    }

    /// Reports the remaining references of types to themselves; `None` if there are any.
    pub(super) fn finite(&mut self, schema: &Value) -> Option<()> {
        let mut found = BTreeSet::new();
        references(schema, &mut found);
        for number in &found {
            if let Some(diagnostic) = self.cycles.get(*number).cloned() {
                self.error(diagnostic);
            }
        }
        found.is_empty().then_some(())
    }

    /// Returns the derive macro's result for a type.
    pub(super) fn container(&mut self, env: &Env, derived: &Derived) -> Option<Value> {
        // `with`, `from` and `try_from` of types: since schemars 1.0.0-rc.1 (its CHANGELOG.md).
        let is_0_8 = self.locked.is_schemars_0_8();
        let mut schema = if let (Some(with), false) = (&derived.with, is_0_8) {
            self.with(env, with)?
        } else if let (Some(field), true) = (schemars_0_8::transparent_field(derived), is_0_8) {
            // `schemars_derive/src/lib.rs`: the schema is that of the field's type, without its attributes.
            return match &field.with {
                Some(with) => self.with(env, with),
                None => {
                    let ty = self.ty(env, &field.ty)?;
                    self.schema(&ty)
                }
            };
        } else if let (Some(field), false) = (transparent_field(derived), is_0_8) {
            self.field(env, field, Place::Content)?
        } else if derived.is_repr {
            self.numbered(env, derived)?
        } else if let (Some(read_as), false) = (&derived.serde.read_as, is_0_8) {
            let ty = self.ty(env, read_as)?;
            self.schema(&ty)?
        } else {
            self.body(env, derived)?
        };
        self.common(env, &mut schema, &derived.common)?;
        self.extend(env, &mut schema, &derived.common)?;
        self.kube_schema(env, derived, &mut schema)?;
        Some(schema)
    }

    fn body(&mut self, env: &Env, derived: &Derived) -> Option<Value> {
        let Container { deny_unknown_fields, default, .. } = &derived.serde;
        match &derived.body {
            Body::Unit => Some(json!({"type": "null"})),
            Body::Tuple(fields) if fields.len() == 1 => self.field(env, &fields[0], Place::Content),
            Body::Tuple(fields) => self.tuple(env, fields),
            Body::Named(fields) => self.structure(env, fields, default.as_ref(), *deny_unknown_fields),
            Body::Enum(variants) => self.enumeration(env, variants, &derived.serde),
        }
    }

    /// The schema of a type or function that replaces the type.
    pub(super) fn with(&mut self, env: &Env, with: &With) -> Option<Value> {
        match with {
            With::Type(ty) => {
                let ty = self.ty(env, ty)?;
                self.schema(&ty)
            }
            With::Function(path) => self.function(env, path),
        }
    }

    /// A field's schema, without default and extensions.
    pub(super) fn field(&mut self, env: &Env, field: &Field, place: Place) -> Option<Value> {
        let mut schema = self.bare_field(env, field, place)?;
        if !self.extends_first() {
            self.extend(env, &mut schema, &field.common)?;
        }
        Some(schema)
    }

    fn bare_field(&mut self, env: &Env, field: &Field, place: Place) -> Option<Value> {
        self.check_functions(env, field);
        let is_0_8 = self.locked.is_schemars_0_8();
        let validation = field.validation(is_0_8);
        let mut schema = match &field.with {
            Some(With::Function(path)) => self.function(env, path)?,
            with => {
                let expr = match with {
                    Some(With::Type(ty)) => ty,
                    _ => &field.ty,
                };
                let ty = self.ty(env, expr)?;
                if with.is_none() {
                    self.check_serde(field, &ty);
                }
                let made = if validation.required { self.non_optional(&ty) } else { self.schema(&ty) };
                self.located(made, field)?
            }
        };
        if place == Place::Tagged && !is_0_8 {
            schema = pieces::tagged_content(schema);
        }
        // In schemars 0.8, only properties have titles, descriptions and examples of their own
        // (`expr_for_field` of `schema_exprs.rs`).
        let has_metadata = place == Place::Property || !is_0_8;
        if has_metadata {
            self.common(env, &mut schema, &field.common)?;
        }
        if self.extends_first() {
            self.extend(env, &mut schema, &field.common)?;
        }
        self.validate(env, &mut schema, validation)?;
        if field.serde.skip_serializing && has_metadata {
            pieces::insert(&mut schema, "writeOnly", true);
        }
        Some(schema)
    }

    pub(super) fn tuple(&mut self, env: &Env, fields: &[Field]) -> Option<Value> {
        let kept = fields.iter().filter(|field| !field.serde.skip_deserializing);
        let items: Option<Vec<Value>> = kept.map(|field| self.field(env, field, Place::Content)).collect();
        let items = items?;
        let len = items.len();
        Some(if items.is_empty() {
            json!({"type": "array", "maxItems": 0})
        } else {
            json!({"type": "array", "prefixItems": items, "minItems": len, "maxItems": len})
        })
    }

    /// The fields of a struct or variant.
    pub(super) fn structure(
        &mut self,
        env: &Env,
        fields: &[Field],
        default: Option<&DefaultExpr>,
        deny_unknown_fields: bool,
    ) -> Option<Value> {
        let mut schema = json!({"type": "object"});
        if deny_unknown_fields {
            pieces::insert(&mut schema, "additionalProperties", false);
        }
        let mut complete = true;
        for field in fields {
            if !self.is_property(field) {
                continue;
            }
            complete &= self.structure_field(env, &mut schema, field, default).is_some();
        }
        complete.then_some(schema)
    }

    fn structure_field(
        &mut self,
        env: &Env,
        schema: &mut Value,
        field: &Field,
        container_default: Option<&DefaultExpr>,
    ) -> Option<()> {
        let is_0_8 = self.locked.is_schemars_0_8();
        let is_required = field.validation(is_0_8).required;
        if field.serde.flatten {
            self.check_functions(env, field);
            let (inner, is_option) = match &field.with {
                Some(With::Function(path)) => (self.function(env, path)?, false),
                with => {
                    let expr = if let Some(With::Type(ty)) = with { ty } else { &field.ty };
                    let ty = self.ty(env, expr)?;
                    if with.is_none() {
                        self.check_serde(field, &ty);
                    }
                    (self.non_optional(&ty)?, self.is_option(&ty))
                }
            };
            self.flatten(schema, inner, is_option && !is_required);
            return Some(());
        }
        let field = &*self.with_default(field, container_default);
        let mut property = self.bare_field(env, field, Place::Property)?;
        let has_default = (container_default.is_some() || field.serde.default.is_some())
            // `field_default_expr` of schemars 0.8
            && !(is_0_8 && field.serde.skip_serializing);
        let extends_last = !self.extends_first();
        let says_default = extends_last && field.common.extensions.iter().any(|(key, _)| key == "default");
        if has_default && !field.serde.skip_serializing && !says_default {
            self.set_default(env, &mut property, field, container_default)?;
        }
        if extends_last {
            self.extend(env, &mut property, &field.common)?;
        }
        let is_optional = has_default || (!is_required && self.field_is_option(env, field));
        pieces::property(schema, field.read(is_0_8), is_optional, property);
        Some(())
    }

    /// Merges the schema of a flattened field into that of its struct.
    pub(super) fn flatten(&self, schema: &mut Value, inner: Value, is_optional: bool) {
        if self.locked.is_schemars_0_8() {
            schemars_0_8::flatten_field(schema, inner, is_optional);
        } else if self.locked.is_schemars_before(1, 0) {
            pieces::flatten(schema, pieces::flattened_1_0(inner, is_optional));
        } else {
            pieces::flatten(schema, pieces::flattened(inner, is_optional));
        }
    }

    fn field_is_option(&mut self, env: &Env, field: &Field) -> bool {
        let expr = match &field.with {
            Some(With::Function(_)) => return false,
            Some(With::Type(ty)) => ty,
            None => &field.ty,
        };
        self.ty(env, expr).is_some_and(|ty| self.is_option(&ty))
    }

    /// Whether constraints and defaults of a field replace what `extend` says: before schemars 1.2.1, which has
    /// `post_mutators` (`schema_exprs.rs`).
    fn extends_first(&self) -> bool {
        self.locked.is_schemars_before(2, 1)
    }

    /// Adds the field's location to an error without one.
    fn located<T>(&mut self, made: Option<T>, field: &Field) -> Option<T> {
        if made.is_none() {
            for diagnostic in
                self.ctx.diagnostics.iter_mut().filter(|diagnostic| diagnostic.primary.is_none())
            {
                diagnostic.primary = field.ty.loc();
            }
        }
        made
    }
}

/// The prefix of references to an enclosing type.
const RECURSION: &str = "#/recursion/";

/// The numbers in such references.
fn references(schema: &Value, out: &mut BTreeSet<usize>) {
    match schema {
        Value::Object(members) => {
            let to = members.get("$ref").and_then(Value::as_str);
            out.extend(to.and_then(|to| to.strip_prefix(RECURSION)?.parse::<usize>().ok()));
            members.values().for_each(|value| references(value, out));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, out)),
        _ => {}
    }
}

/// The type whose schema a type has.
enum Forward {
    Option(Ty),
    Same(Ty),
}

/// The place of a field's schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A property of a struct.
    Property,
    /// The content of a type or variant, or a part of it.
    Content,
    /// The content of an internally tagged variant.
    Tagged,
}

/// The type whose schema a type has as a whole.
fn forwarded_type(derived: &Derived) -> Option<&TypeExpr> {
    if !derived.common.is_empty() {
        return None;
    }
    match (&derived.with, transparent_field(derived)) {
        (Some(With::Type(ty)), _) => Some(ty),
        (None, Some(field)) if field.is_plain() => Some(&field.ty),
        _ => None,
    }
}

/// The only field of a transparent struct.
fn transparent_field(derived: &Derived) -> Option<&Field> {
    let (Body::Named(fields) | Body::Tuple(fields)) = &derived.body else { return None };
    if !derived.serde.transparent {
        return None;
    }
    fields.iter().find(|field| !field.serde.skip_deserializing && field.serde.default.is_none())
}

impl Field {
    /// Its constraints for this version of schemars.
    fn validation(&self, is_0_8: bool) -> &Validation {
        if is_0_8 { &self.validation_by_0_8 } else { &self.validation }
    }

    /// Its name in the schema of this version of schemars.
    pub(super) fn read(&self, is_0_8: bool) -> &str {
        if is_0_8 { &self.read_by_0_8 } else { &self.read }
    }

    /// Whether no attribute changes the field's schema.
    fn is_plain(&self) -> bool {
        let validation = &self.validation;
        self.common.is_empty()
            && self.with.is_none()
            && validation.length.is_none()
            && validation.range.is_none()
            && validation.pattern.is_none()
            && validation.contains.is_none()
            && !validation.required
            && validation.format.is_none()
            && validation.inner.is_none()
    }
}

/// The number of values in a JSON value.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}
