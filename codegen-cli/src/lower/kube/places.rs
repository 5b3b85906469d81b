//! Maps paths in a kind's schema to the locations of its fields, for errors about a part.

use std::collections::BTreeMap;

use super::known::is_transparent;
use super::types::{Dialect, Env, Param, Ty};
use crate::resolve::ItemId;
use crate::source::Loc;
use crate::syntax::kube::{Body, CustomResource, Field};

/// Limits on the number and depth of locations: types contain each other many times.
const PLACES: usize = 2000;
const DEPTH: usize = 12;

impl Dialect<'_, '_> {
    /// The locations of the fields below a kind: `spec.ports[].name`.
    pub(crate) fn places(&mut self, id: ItemId, resource: &CustomResource) -> BTreeMap<String, Loc> {
        let mut out = BTreeMap::new();
        let prefix = if resource.no_spec { "" } else { "spec" };
        let params = self.item(id).generics.is_empty().then(|| Vec::new().into());
        let before = self.ctx.diagnostics.len();
        if let Some(params) = params {
            self.places_of(&Ty::Item(id, params), prefix, 0, &mut out);
        }
        if let Some(status) = &resource.status
            && let Some(ty) = self.ty(&Env::module(id.krate, id.module), status)
        {
            self.places_of(&ty, "status", 0, &mut out);
        }
        self.ctx.diagnostics.truncate(before);
        out
    }

    fn places_of(&mut self, ty: &Ty, prefix: &str, depth: usize, out: &mut BTreeMap<String, Loc>) {
        if depth > DEPTH || out.len() >= PLACES {
            return;
        }
        match ty {
            Ty::Item(id, params) => {
                let derived = self.item(*id).schemars.as_deref();
                let Some(derived) = derived.filter(|derived| derived.derives_schema) else { return };
                let env = self.env_of(*id, params);
                match &derived.body {
                    Body::Named(fields) => self.places_in(&env, fields, prefix, depth, out),
                    Body::Tuple(fields) if fields.len() == 1 => {
                        if let Some(inner) = self.ty(&env, &fields[0].ty) {
                            self.places_of(&inner, prefix, depth + 1, out);
                        }
                    }
                    Body::Enum(variants) => {
                        let is_external = derived.serde.tag.is_none() && !derived.serde.untagged;
                        for variant in variants {
                            let below = match is_external && !variant.untagged {
                                true => joined(prefix, &variant.read),
                                false => prefix.to_string(),
                            };
                            out.entry(below.clone()).or_insert(variant.name.loc);
                            match &variant.body {
                                Body::Named(fields) => self.places_in(&env, fields, &below, depth, out),
                                Body::Tuple(fields) if fields.len() == 1 => {
                                    if let Some(inner) = self.ty(&env, &fields[0].ty) {
                                        self.places_of(&inner, &below, depth + 1, out);
                                    }
                                }
                                _ => {}
                            }
                        }
                    }
                    _ => {}
                }
            }
            Ty::Known(path, arguments) => {
                let Some(Param::Type(inner)) = arguments.last() else { return };
                let below = if path == "Option" || is_transparent(path) {
                    prefix.to_string()
                } else if path.ends_with("Map") {
                    format!("{prefix}{{}}")
                } else {
                    format!("{prefix}[]")
                };
                if let Some(loc) = out.get(prefix).copied() {
                    out.entry(below.clone()).or_insert(loc);
                }
                self.places_of(&inner.clone(), &below, depth + 1, out);
            }
            Ty::Array(inner, _) | Ty::Slice(inner) => {
                self.places_of(&inner.clone(), &format!("{prefix}[]"), depth + 1, out);
            }
            Ty::Tuple(_) => {}
        }
    }

    fn places_in(
        &mut self,
        env: &Env,
        fields: &[Field],
        prefix: &str,
        depth: usize,
        out: &mut BTreeMap<String, Loc>,
    ) {
        for field in fields {
            if !self.is_property(field) {
                continue;
            }
            let name = field.read(self.locked.is_schemars_0_8());
            let below = if field.serde.flatten { prefix.to_string() } else { joined(prefix, name) };
            if !field.serde.flatten {
                out.entry(below.clone()).or_insert(field.name.loc);
            }
            if field.with.is_none()
                && let Some(ty) = self.ty(env, &field.ty)
            {
                self.places_of(&ty, &below, depth + 1, out);
            }
        }
    }
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") }
}
