//! Markers that no derive of ours reads.

use kubesmith_core::grammar::ItemAttributes;
use syn::Attribute;

use super::Parser;
use super::derives::Derives;
use crate::syntax::Name;

/// The attributes of a struct and of its fields.
pub(super) fn of_struct(item: &syn::ItemStruct) -> impl Iterator<Item = &[Attribute]> {
    let fields = item.fields.iter().map(|field| field.attrs.as_slice());
    std::iter::once(item.attrs.as_slice()).chain(fields)
}

/// The attributes of an enum, of its variants and of their fields.
pub(super) fn of_enum(item: &syn::ItemEnum) -> impl Iterator<Item = &[Attribute]> {
    let variants = item.variants.iter().flat_map(|variant| {
        let fields = variant.fields.iter().map(|field| field.attrs.as_slice());
        std::iter::once(variant.attrs.as_slice()).chain(fields)
    });
    std::iter::once(item.attrs.as_slice()).chain(variants)
}

impl Parser<'_> {
    /// The first marker of a type that has none of our derives.
    pub(super) fn unread_marker<'i>(
        &self,
        derives: Derives,
        mut attributes: impl Iterator<Item = &'i [Attribute]>,
    ) -> Option<Name> {
        if derives.resource || derives.schema {
            return None;
        }
        attributes.find_map(|attributes| {
            let item = ItemAttributes::new(attributes);
            let (name, span) = item.first_marker()?;
            Some(Name { text: name.to_string(), loc: self.loc(span) })
        })
    }
}
