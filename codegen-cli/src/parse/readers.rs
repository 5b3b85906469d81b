//! Finds attributes that no derive of a type in kube-rs's dialect reads.
//!
//! rustc refuses such an attribute, unless a macro that is not known here reads it: a type with another derive
//! or another attribute is left alone.

use kubesmith_core::grammar::{FAMILIES, ItemAttributes, is_marker};
use syn::Attribute;

use super::Parser;
use crate::syntax::{Name, Unread};

/// Derives with the attributes that they read, by `proc_macro_derive` in `serde_derive`, `schemars_derive`,
/// `kube-derive`, `garde_derive`, `validator_derive` and `utoipa-gen`. The first ones are of std.
const READERS: &[(&str, &[&str])] = &[
    ("Clone", &[]),
    ("Copy", &[]),
    ("Debug", &[]),
    ("Default", &["default"]),
    ("Eq", &[]),
    ("Hash", &[]),
    ("Ord", &[]),
    ("PartialEq", &[]),
    ("PartialOrd", &[]),
    ("Serialize", &["serde"]),
    ("Deserialize", &["serde"]),
    ("Validate", &["validate", "garde"]),
    ("JsonSchema", &["schemars", "serde", "validate", "garde"]),
    ("JsonSchema_repr", &["schemars", "serde"]),
    ("CustomResource", &["kube"]),
    ("KubeSchema", &["x_kube", "cel_validate", "schemars", "validate"]),
    ("CELSchema", &["x_kube", "cel_validate", "schemars", "validate"]),
    ("ValidateSchema", &["x_kube", "cel_validate", "schemars", "validate"]),
    ("ToSchema", &["schema"]),
];

/// Attributes of rustc and of serde_with that may stand on a type.
const BUILT_IN: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "must_use",
    "non_exhaustive",
    "repr",
    "serde_as",
    "skip_serializing_none",
    "warn",
];

/// Crates and tools whose attributes read no others.
const TOOLS: &[&str] = &["clippy", "diagnostic", "rustfmt", "serde_with"];

/// Whether a name is that of an attribute of ours.
fn is_ours(name: &str) -> bool {
    FAMILIES.iter().any(|family| family.family.name() == name)
}

/// The derive that reads an attribute.
fn reader(attribute: &str) -> Option<&'static str> {
    let reads = |(_, read): &&(&str, &[&str])| read.contains(&attribute);
    READERS.iter().find(reads).map(|(derive, _)| *derive)
}

/// Whether all derives and attributes of a type are known, so that no other macro changes it.
pub(super) fn is_complete(derives: &[(String, String)], attributes: &[Attribute]) -> bool {
    let is_known = |(_, name): &(String, String)| READERS.iter().any(|(derive, _)| derive == name);
    derives.iter().all(is_known)
        && attributes.iter().all(|attribute| match attribute.path().get_ident() {
            Some(name) => {
                let name = name.to_string();
                BUILT_IN.contains(&name.as_str()) || reader(&name).is_some() || is_ours(&name)
            }
            None => {
                attribute.path().segments.first().is_some_and(|tool| TOOLS.iter().any(|it| tool.ident == it))
            }
        })
}

impl Parser<'_> {
    /// The first attribute of a type in kube-rs's dialect, or inside it, that none of its derives reads, or else
    /// the first marker.
    pub(super) fn unread_by_kube(
        &self,
        derives: &[(String, String)],
        attributes: &[&[Attribute]],
    ) -> Option<Unread> {
        let is_complete = attributes.first().is_some_and(|of_type| is_complete(derives, of_type));
        let mut all = attributes.iter().copied().flatten();
        let found = all.find_map(|attribute| {
            let name = attribute.path().get_ident()?;
            let text = name.to_string();
            let derive = match text.as_str() {
                "validation" | "schema" | "genclient" => "Schema",
                "resource" => "Resource",
                "default" => return None,
                other => reader(other)?,
            };
            let is_read = READERS.iter().any(|(reader, read)| {
                read.contains(&text.as_str()) && derives.iter().any(|(_, name)| name == reader)
            });
            (is_complete && !is_read).then(|| Unread {
                name: Name { text: format!("#[{text}]"), loc: self.loc(name.span()) },
                derive: Some(derive),
                of_kube: true,
            })
        });
        found.or_else(|| attributes.iter().find_map(|attributes| self.marker_of_kube(attributes)))
    }

    /// A marker in a doc comment that kube-rs takes for text.
    fn marker_of_kube(&self, attributes: &[Attribute]) -> Option<Unread> {
        let item = ItemAttributes::new(attributes);
        let (name, span) = item.first_marker()?;
        let is_meant = is_marker(name) || name.starts_with("kubebuilder:") || name.starts_with("k8s:");
        is_meant.then(|| Unread {
            name: Name { text: format!("+{name}"), loc: self.loc(span) },
            derive: None,
            of_kube: true,
        })
    }
}
