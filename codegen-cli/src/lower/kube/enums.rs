//! Builds schemas of enums, in serde's four representations.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::container::Place;
use super::types::{Dialect, Env};
use super::{pieces, schemars_0_8};
use crate::syntax::kube::{Body, Container, Derived, Variant};

impl Dialect<'_, '_> {
    pub(super) fn enumeration(
        &mut self,
        env: &Env,
        variants: &[Variant],
        serde: &Container,
    ) -> Option<Value> {
        let kept: Vec<&Variant> = variants.iter().filter(|variant| !variant.skip_deserializing).collect();
        // schemars 0.8 has an empty list of values.
        if variants.is_empty() && !self.locked.is_schemars_0_8() {
            return Some(Value::Bool(false));
        }
        let deny = serde.deny_unknown_fields;
        match (&serde.tag, &serde.content) {
            _ if serde.untagged => {
                let branches: Option<Vec<Value>> =
                    kept.iter().map(|variant| self.untagged(env, variant, deny, true)).collect();
                Some(json!({"anyOf": branches?}))
            }
            (None, _) => self.external(env, &kept, deny),
            (Some(tag), None) => {
                let internal =
                    |dialect: &mut Self, variant: &Variant| dialect.internal(env, variant, tag, deny);
                Some(json!({self.keyword(&kept): self.branches(env, &kept, deny, internal)?}))
            }
            (Some(tag), Some(content)) => {
                let adjacent = |dialect: &mut Self, variant: &Variant| {
                    dialect.adjacent(env, variant, (tag, content), deny)
                };
                Some(json!({self.keyword(&kept): self.branches(env, &kept, deny, adjacent)?}))
            }
        }
    }

    /// One branch for each variant.
    fn branches(
        &mut self,
        env: &Env,
        variants: &[&Variant],
        deny: bool,
        mut branch: impl FnMut(&mut Self, &Variant) -> Option<Value>,
    ) -> Option<Vec<Value>> {
        let mut out = Vec::with_capacity(variants.len());
        for variant in variants {
            out.push(if self.is_untagged(variant) {
                self.untagged(env, variant, deny, true)?
            } else {
                let mut schema = branch(self, variant)?;
                self.common(env, &mut schema, &variant.common)?;
                self.extend(env, &mut schema, &variant.common)?;
                schema
            });
        }
        Some(out)
    }

    /// `"name"` and `{"name": content}`. Unit variants without attributes share one branch.
    fn external(&mut self, env: &Env, variants: &[&Variant], deny: bool) -> Option<Value> {
        let is_name = |variant: &&&Variant| {
            is_unit(variant)
                && variant.with.is_none()
                && variant.common.is_empty()
                && !self.is_untagged(variant)
        };
        let names: Vec<&str> = variants.iter().filter(is_name).map(|variant| variant.read.as_str()).collect();
        let others: Vec<&Variant> = variants.iter().copied().filter(|variant| !is_name(&variant)).collect();
        let unit = json!({"type": "string", "enum": names});
        if others.is_empty() {
            return Some(unit);
        }
        let mut out = self.branches(env, &others, deny, |dialect, variant| {
            if is_unit(variant) && variant.with.is_none() {
                return Some(json!({"type": "string", "const": variant.read}));
            }
            let content = dialect.untagged(env, variant, deny, false)?;
            let name = &variant.read;
            Some(json!({
                "type": "object",
                "properties": {name: content},
                "required": [name],
                "additionalProperties": false,
            }))
        })?;
        if !names.is_empty() {
            out.insert(0, unit);
        }
        Some(json!({self.keyword(variants): out}))
    }

    /// `{"tag": "name", ..content}`
    fn internal(&mut self, env: &Env, variant: &Variant, tag: &str, deny: bool) -> Option<Value> {
        let mut schema = match (&variant.with, &variant.body) {
            (Some(with), _) => self.with(env, with)?,
            (None, Body::Tuple(fields)) if fields.len() == 1 => self.field(env, &fields[0], Place::Tagged)?,
            _ => self.content(env, variant, deny)?,
        };
        if self.locked.is_schemars_0_8() {
            return Some(schemars_0_8::tagged(schema, tag, &variant.read, deny));
        }
        pieces::tag(&mut schema, tag, &variant.read, deny);
        Some(schema)
    }

    /// `{"tag": "name", "content": content}`
    fn adjacent(
        &mut self,
        env: &Env,
        variant: &Variant,
        (tag, content): (&str, &str),
        deny: bool,
    ) -> Option<Value> {
        let mut schema = json!({
            "type": "object",
            "properties": {tag: {"type": "string", "const": variant.read}},
            "required": [tag],
        });
        if !is_unit(variant) || variant.with.is_some() {
            let inner = self.untagged(env, variant, deny, false)?;
            pieces::property(&mut schema, content, false, inner);
        }
        if deny {
            pieces::insert(&mut schema, "additionalProperties", false);
        }
        Some(schema)
    }

    /// The content alone. The variant's attributes apply to it only if `is_all`: it is the whole
    /// schema.
    fn untagged(&mut self, env: &Env, variant: &Variant, deny: bool, is_all: bool) -> Option<Value> {
        let mut schema = match &variant.with {
            Some(with) => self.with(env, with)?,
            None => self.content(env, variant, deny)?,
        };
        if is_all {
            self.common(env, &mut schema, &variant.common)?;
            self.extend(env, &mut schema, &variant.common)?;
        }
        Some(schema)
    }

    fn content(&mut self, env: &Env, variant: &Variant, deny: bool) -> Option<Value> {
        match &variant.body {
            Body::Tuple(fields) if fields.len() == 1 => self.field(env, &fields[0], Place::Content),
            Body::Tuple(fields) => self.tuple(env, fields),
            Body::Named(fields) => self.structure(env, fields, None, deny),
            Body::Unit | Body::Enum(_) => Some(json!({"type": "null"})),
        }
    }

    /// `untagged` of a variant, which schemars knows since 1.0.0-alpha.19.
    fn is_untagged(&self, variant: &Variant) -> bool {
        variant.untagged && !self.locked.is_schemars_0_8()
    }

    /// Branches exclude each other unless a variant is untagged. In schemars 0.8, their names have to differ
    /// instead (`variant_subschemas` of its `schema_exprs.rs`).
    fn keyword(&self, variants: &[&Variant]) -> &'static str {
        let overlap = if self.locked.is_schemars_0_8() {
            let names: BTreeSet<&str> = variants.iter().map(|variant| variant.read.as_str()).collect();
            names.len() < variants.len()
        } else {
            variants.iter().any(|variant| self.is_untagged(variant))
        };
        if overlap { "anyOf" } else { "oneOf" }
    }

    /// `JsonSchema_repr`: the discriminants.
    pub(super) fn numbered(&mut self, env: &Env, derived: &Derived) -> Option<Value> {
        let Body::Enum(variants) = &derived.body else { return None };
        let mut next: i128 = 0;
        let mut values = Vec::with_capacity(variants.len());
        for variant in variants {
            if let Some(expr) = &variant.discriminant {
                let Some(value) = self.ctx.integer(&env.scope(), expr) else {
                    self.unknown_value(expr.loc, "this number");
                    return None;
                };
                next = value;
            }
            values.push(integer(next)?);
            next = next.checked_add(1)?;
        }
        Some(json!({"type": "integer", "enum": values}))
    }
}

/// An integer as JSON, if it is in JSON's range.
pub(super) fn integer(value: i128) -> Option<Value> {
    i64::try_from(value).map(Value::from).or_else(|_| u64::try_from(value).map(Value::from)).ok()
}

fn is_unit(variant: &Variant) -> bool {
    matches!(variant.body, Body::Unit)
}
