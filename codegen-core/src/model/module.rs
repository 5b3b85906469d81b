//! Reads facts about types in the documentation of their module.

use proc_macro2::Span;
use syn::Attribute;

use super::resource::{parse_name, parse_version};
use super::{EntryValue, Presence};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{ItemAttributes, Parsed, Spanned, parse_module};
use crate::names::{CodeName, Group, Version};

/// Facts about a module; those of a child module take precedence over its parent's.
#[derive(Clone, Debug, Default)]
pub struct ModuleAttrs {
    /// `+groupName`
    pub group: Option<Spanned<Group>>,
    /// `+versionName`
    pub version: Option<Spanned<Version>>,
    /// `+groupGoName`
    pub group_name_in_code: Option<Spanned<CodeName>>,
    /// `+kubebuilder:skip`
    pub skip: Option<Span>,
    /// `+kubebuilder:validation:Optional` or `Required`
    pub presence: Option<Spanned<Presence>>,
}

impl ModuleAttrs {
    /// Reads the markers among a module's attributes and checks them.
    pub fn read(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Self {
        let parsed = parse_module(&ItemAttributes::new(attributes), diagnostics);
        let text = |key: &str| parsed.get(key).and_then(EntryValue::string);
        let group = text("group");
        let version = text("version");
        let code_name = text("group_name_in_code");
        Self {
            group: group
                .and_then(|t| parse_name(&t, Code::INVALID_GROUP, "API group", Group::parse, diagnostics)),
            version: version.and_then(|t| parse_version(&t, diagnostics)),
            group_name_in_code: code_name.and_then(|t| {
                parse_name(&t, Code::INVALID_CODE_NAME, "name in code", CodeName::parse, diagnostics)
            }),
            skip: parsed.given("skip"),
            presence: presence(&parsed, diagnostics),
        }
    }

    /// Adds the facts of an enclosing module.
    #[must_use]
    pub fn or(self, outer: Self) -> Self {
        Self {
            group: self.group.or(outer.group),
            version: self.version.or(outer.version),
            group_name_in_code: self.group_name_in_code.or(outer.group_name_in_code),
            skip: self.skip.or(outer.skip),
            presence: self.presence.or(outer.presence),
        }
    }
}

fn presence(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Spanned<Presence>> {
    let (required, optional) = (parsed.given("required"), parsed.given("optional"));
    if let (Some(required), Some(optional)) = (required, optional) {
        let message = "the fields of the module are required and optional by default";
        let diagnostic = Diagnostic::error(Code::PRESENCE, optional, message);
        diagnostics.push(diagnostic.secondary(required, "required here").help("keep one of them"));
    }
    let required = required.map(|span| Spanned::new(Presence::Required, span));
    required.or(optional.map(|span| Spanned::new(Presence::Optional, span)))
}
