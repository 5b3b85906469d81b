//! Finds the macros that a type derives, by their names as the module imports them.

use std::collections::HashMap;

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Token};

use super::{Visibility, uses};
use crate::syntax::{DeriveNames, Derived, UseItem};

impl DeriveNames {
    /// The names in a module that also has these items.
    pub(super) fn with(&self, items: &[Item]) -> Self {
        let mut names = self.0.clone();
        names.extend(Self::of(items, &Self::default()).0);
        Self(names)
    }

    /// The names in a module inside one with the names `outer`.
    pub(super) fn of(items: &[Item], outer: &Self) -> Self {
        let is_all = |leaf: &UseItem| leaf.binding.is_none() && leaf.segments == ["super"];
        let has_all = items.iter().flat_map(imported).any(|leaf| is_all(&leaf));
        let mut names = if has_all { outer.0.clone() } else { HashMap::new() };
        for leaf in items.iter().flat_map(imported) {
            let (Some(binding), Some((first, rest))) = (leaf.binding, leaf.segments.split_first()) else {
                continue;
            };
            let target = match (first.as_str(), rest.last()) {
                (_, None) => continue,
                ("super", Some(name)) => match outer.0.get(name) {
                    Some(target) => target.clone(),
                    None => continue,
                },
                (first, Some(name)) => (first.to_string(), name.clone()),
            };
            names.insert(binding, target);
        }
        Self(names)
    }

    /// The derives among the attributes: the crate, if it is known, and the name there.
    pub(super) fn derives(&self, attributes: &[Attribute]) -> Vec<(String, String)> {
        let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
        let paths = lists.filter_map(|attribute| {
            attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated).ok()
        });
        paths.flatten().filter_map(|path| self.derive(&path)).collect()
    }

    fn derive(&self, path: &syn::Path) -> Option<(String, String)> {
        let name = path.segments.last()?.ident.unraw().to_string();
        if path.segments.len() > 1 {
            return Some((path.segments[0].ident.unraw().to_string(), name));
        }
        Some(self.0.get(&name).cloned().unwrap_or((String::new(), name)))
    }
}

fn imported(item: &Item) -> Vec<UseItem> {
    let mut out = Vec::new();
    if let Item::Use(item) = item {
        uses::leaves(&item.tree, Visibility::Restricted, false, &mut Vec::new(), &mut out);
    }
    out
}

/// The derives of our macros and serde's that a type has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Derives {
    /// `Resource`
    pub(super) resource: bool,
    /// `Schema`
    pub(super) schema: bool,
    /// A derive of kube or schemars that makes a schema or a kind.
    pub(super) kube: bool,
    /// `Serialize`, `Deserialize`
    pub(super) serde: Derived,
}

impl Derives {
    pub(super) fn of(derives: &[(String, String)], attributes: &[Attribute]) -> Self {
        let is_ours = |krate: &str| !krate.starts_with("kube") || krate.starts_with("kubesmith");
        let has = |wanted: &str| derives.iter().any(|(_, name)| name == wanted);
        let has_ours = |wanted: &str| derives.iter().any(|(krate, name)| name == wanted && is_ours(krate));
        Self {
            // kube has a macro of the same name, for types that inherit another's names.
            resource: has_ours("Resource") && !super::kube::inherits(attributes),
            schema: has_ours("Schema"),
            kube: super::kube::KubeDerives::of(derives).makes_definition(),
            serde: Derived {
                serialize: has("Serialize"),
                deserialize: has("Deserialize"),
                is_complete: super::readers::is_complete(derives, attributes),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> DeriveNames {
        DeriveNames::of(&syn::parse_file(source).unwrap().items, &DeriveNames::default())
    }

    #[test]
    fn derives_are_resolved_through_imports() {
        let names = names("use schemars::JsonSchema as Schema; use kube::{CustomResource, Resource};");
        let item: syn::ItemStruct =
            syn::parse_quote! { #[derive(Schema, Resource, other::Resource, Clone)] struct S; };
        let found = names.derives(&item.attrs);
        let texts: Vec<String> = found.iter().map(|(krate, name)| format!("{krate}::{name}")).collect();
        assert_eq!(texts, ["schemars::JsonSchema", "kube::Resource", "other::Resource", "::Clone"]);
        let ours = Derives::of(&found[..2], &item.attrs);
        assert!(!ours.schema && !ours.resource);
    }
}
