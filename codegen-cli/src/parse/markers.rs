//! Finds attributes and markers that no derive of their type reads.

use kubesmith_core::diag::{Code, Diagnostic, Diagnostics};
use kubesmith_core::grammar::{FAMILIES, ItemAttributes};
use kubesmith_core::names::edit_distance;
use syn::Attribute;

use super::Parser;
use super::derives::Derives;
use crate::syntax::{Name, Unread};

/// Derives of utoipa that read `#[schema]`.
const FOREIGN_SCHEMAS: [&str; 3] = ["ToSchema", "ToResponse", "IntoParams"];

/// Attributes of other crates that describe types, with the derives that read them.
const FOREIGN: [(&str, &[&str]); 4] = [
    ("schemars", &["JsonSchema"]),
    ("validate", &["Validate"]),
    ("garde", &["Validate"]),
    ("kube", &["CustomResource", "KubeSchema", "Resource"]),
];

/// The attributes of a struct and of its fields.
pub(super) fn of_struct(item: &syn::ItemStruct) -> impl Iterator<Item = &[Attribute]> {
    let fields = item.fields.iter().map(|field| field.attrs.as_slice());
    std::iter::once(item.attrs.as_slice()).chain(fields)
}

/// The attributes of an enum, its variants and their fields.
pub(super) fn of_enum(item: &syn::ItemEnum) -> impl Iterator<Item = &[Attribute]> {
    let variants = item.variants.iter().flat_map(|variant| {
        let fields = variant.fields.iter().map(|field| field.attrs.as_slice());
        std::iter::once(variant.attrs.as_slice()).chain(fields)
    });
    std::iter::once(item.attrs.as_slice()).chain(variants)
}

impl Parser<'_> {
    /// The first attribute or marker on a type or inside it whose derive the type lacks.
    pub(super) fn unread_attribute<'i>(
        &self,
        derives: Derives,
        names: &[(String, String)],
        mut attributes: impl Iterator<Item = &'i [Attribute]>,
    ) -> Option<Unread> {
        if derives.kube && !derives.resource && !derives.schema {
            return self.unread_by_kube(names, &attributes.collect::<Vec<_>>());
        }
        let has = |derive: &str| names.iter().any(|(_, name)| name == derive);
        let is_ours = derives.resource || derives.schema;
        attributes.find_map(|attributes| {
            let found = attributes.iter().find_map(|attribute| {
                let name = attribute.path().get_ident()?;
                let derive = match name.to_string().as_str() {
                    "resource" if !is_ours => "Resource",
                    "validation" if !is_ours => "Schema",
                    // utoipa's attribute has the same name.
                    "schema" if !is_ours && !FOREIGN_SCHEMAS.into_iter().any(has) => "Schema",
                    // On other types, these belong to other macros.
                    other if is_ours => {
                        let (_, readers) = FOREIGN.iter().find(|(foreign, _)| *foreign == other)?;
                        readers.first().filter(|_| !readers.iter().any(|reader| has(reader)))?
                    }
                    _ => return None,
                };
                let name = Name { text: format!("#[{name}]"), loc: self.loc(name.span()) };
                Some(Unread { name, derive: Some(derive), of_kube: false })
            });
            found.or_else(|| {
                let item = ItemAttributes::new(attributes);
                let (name, span) = item.first_marker().filter(|_| !is_ours)?;
                let name = Name { text: format!("+{name}"), loc: self.loc(span) };
                Some(Unread { name, derive: Some("Schema"), of_kube: false })
            })
        })
    }
}

/// Attributes of kube-rs's dialect.
const OF_KUBE: [&str; 6] = ["serde", "schemars", "x_kube", "kube", "validate", "garde"];

/// Reports attributes of a type whose names nearly match those of its derives: rustc refuses them, but until
/// then their keys would be missing silently.
pub(super) fn misspelt<'i>(
    derives: Derives,
    attributes: impl Iterator<Item = &'i [Attribute]>,
    diagnostics: &mut Diagnostics,
) {
    let known: Vec<&str> = match derives {
        Derives { resource: false, schema: false, kube: false, .. } => return,
        Derives { resource: false, schema: false, .. } => OF_KUBE.to_vec(),
        _ => FAMILIES.iter().map(|family| family.family.name()).chain(["serde"]).collect(),
    };
    for name in attributes.flatten().filter_map(|attribute| attribute.path().get_ident()) {
        let text = name.to_string();
        // Most attributes are ours, or documentation.
        if text == "doc" || known.contains(&text.as_str()) {
            continue;
        }
        let is_near = |known: &&&str| {
            known.len().abs_diff(text.len()) <= 1 && edit_distance(&text.to_lowercase(), known) <= 1
        };
        let near = known.iter().find(is_near);
        if let Some(near) = near {
            let message = format!("there is no attribute `#[{text}]`");
            let diagnostic = Diagnostic::error(Code::UNKNOWN_ATTRIBUTE, name.span(), message);
            diagnostics.push(diagnostic.help(format!("did you mean `#[{near}]`?")));
        }
    }
}
