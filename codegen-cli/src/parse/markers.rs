//! Attributes and markers that no derive of ours reads.

use kubesmith_core::grammar::ItemAttributes;
use syn::Attribute;

use super::Parser;
use super::derives::Derives;
use crate::syntax::Name;

/// Derives of utoipa that read `#[schema]`.
const FOREIGN_SCHEMAS: [&str; 3] = ["ToSchema", "ToResponse", "IntoParams"];

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
    /// The first attribute or marker of a type that has none of our derives, as it is written.
    pub(super) fn unread_attribute<'i>(
        &self,
        derives: Derives,
        names: &[(String, String)],
        mut attributes: impl Iterator<Item = &'i [Attribute]>,
    ) -> Option<Name> {
        if derives.resource || derives.schema {
            return None;
        }
        // utoipa's attribute has the same name.
        let is_foreign = names.iter().any(|(_, name)| FOREIGN_SCHEMAS.contains(&name.as_str()));
        attributes.find_map(|attributes| {
            let attribute = attributes.iter().find(|attribute| {
                let path = attribute.path();
                path.is_ident("validation") || path.is_ident("schema") && !is_foreign
            });
            if let Some(attribute) = attribute {
                let name = attribute.path().get_ident()?;
                return Some(Name { text: format!("#[{name}]"), loc: self.loc(name.span()) });
            }
            let item = ItemAttributes::new(attributes);
            let (name, span) = item.first_marker()?;
            Some(Name { text: format!("+{name}"), loc: self.loc(span) })
        })
    }
}
