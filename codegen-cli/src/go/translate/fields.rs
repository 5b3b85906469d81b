//! The fields of a struct.

use std::collections::HashMap;

use kubesmith_core::diag::Code;
use kubesmith_core::grammar::Place as MarkerPlace;

use super::{Translator, describe};
use crate::diag::Diagnostic;
use crate::go::markers;
use crate::go::packages::TypeId;
use crate::go::release::Release;
use crate::go::resolve::At;
use crate::go::syntax::{Field, Kind, Type, Word};
use crate::go::text::{Text, ident};

/// The contents of a `json` tag.
struct Tag {
    name: String,
    is_inline: bool,
    may_lack: bool,
}

/// Whether a field is required; `is_required` is the default.
fn must(field: &Field, tag: &Tag, is_required: bool, release: Release) -> bool {
    let by_tag = is_required && !tag.is_inline && !tag.may_lack;
    let all = &field.comments.markers;
    let has = |name: &str| markers::has(all, name);
    if !release.prefers_tags() {
        return markers::presence(all, release).unwrap_or(by_tag);
    }
    by_tag && !has("kubebuilder:validation:Optional") && !has("optional")
        || !is_required && has("kubebuilder:validation:Required")
}

impl Translator<'_> {
    pub(super) fn fields(&mut self, text: &mut Text, id: TypeId, owner: &Word, fields: &[Field]) {
        let at = At::from(id);
        let is_kind = self.kinds.contains(&id);
        let is_required = !self
            .package_markers(id.package)
            .any(|(_, marker)| markers::name(marker) == "kubebuilder:validation:Optional");
        let mut kept: Vec<(&Field, Tag)> = Vec::new();
        for field in fields {
            let Some(tag) = self.tag(at, owner, field) else { continue };
            if is_kind && field.name.is_none() && self.resolver.is_meta(at, &field.ty, "TypeMeta") {
                continue;
            }
            kept.push((field, tag));
        }
        // Go's decoder knows each name once; controller-gen writes the last duplicate.
        let named = kept.iter().enumerate().filter(|(_, (_, tag))| !tag.is_inline);
        let last: HashMap<String, usize> = named.map(|(at, (_, tag))| (tag.name.clone(), at)).collect();
        let is_kept = |at: usize, tag: &Tag| tag.is_inline || last.get(&tag.name) == Some(&at);
        for (_, (field, tag)) in kept.into_iter().enumerate().filter(|(at, (_, tag))| is_kept(*at, tag)) {
            if must(field, &tag, is_required, self.options.release) {
                self.refuse_if_counted(id, field, &tag.name);
            }
            self.field(text, at, is_kind, field, &tag, is_required);
        }
    }

    /// The tag of a field that is part of the JSON.
    fn tag(&mut self, at: At, owner: &Word, field: &Field) -> Option<Tag> {
        let name = field.name.as_ref().map(|name| name.text.as_str());
        let is_private = name.is_some_and(|name| !name.starts_with(char::is_uppercase));
        if is_private && self.options.ignore_unexported {
            return None;
        }
        let Some(json) = &field.json else {
            let loc = self.resolver.loc(at, &field.place);
            let shown =
                name.map_or_else(|| "an embedded field".to_string(), |name| format!("the field `{name}`"));
            let help = match is_private {
                true => {
                    "add the tag `json:\"-\"`, or leave such fields out with `--ignore-unexported-fields`"
                }
                false => "add a tag: `json:\"name\"`, or `json:\"-\"` if it is not part of the API",
            };
            let message = format!("{shown} of `{}` has no `json` tag", owner.text);
            self.resolver.diagnostics.push(Diagnostic::error(Code::GO_TAG, loc, message).help(help));
            return None;
        };
        if json == "-" {
            return None;
        }
        let (name, options) = json.split_once(',').unwrap_or((json, ""));
        let has = |wanted: &str| options.split(',').any(|option| option == wanted);
        Some(Tag {
            name: name.to_string(),
            is_inline: name.is_empty() || has("inline"),
            may_lack: has("omitempty") || has("omitzero") && !self.options.release.requires_omitzero(),
        })
    }

    fn field(&mut self, text: &mut Text, at: At, is_kind: bool, field: &Field, tag: &Tag, is_required: bool) {
        let place = field.name.as_ref().map_or(&field.ty.place, |name| &name.place);
        let is_metadata = is_kind && tag.name == "metadata";
        let all = &field.comments.markers;
        let must = must(field, tag, is_required, self.options.release);
        let is_schemaless = markers::has(all, "kubebuilder:validation:Schemaless");
        if !is_metadata {
            self.refuse_enum_of_field(at, all);
            self.markers(text, at, all, MarkerPlace::Field, Some(&field.ty).filter(|_| !is_schemaless));
            let name = Word { text: String::new(), place: place.clone() };
            describe(text, &field.comments, &name);
        }
        match (tag.is_inline, must) {
            (true, _) => text.push("#[serde(flatten)]\n"),
            // The default for types that are no `Option`, of which a translation has none.
            (false, true) if is_required && !is_metadata => {}
            (false, true) => text.push("#[schema(required)]\n"),
            (false, false) if is_metadata => {}
            (false, false) => text.push("#[schema(optional)]\n"),
        }
        let name = match &field.name {
            _ if is_identifier(&tag.name) => ident(&tag.name),
            Some(name) => ident(&name.text),
            None => ident(base_name(&field.ty)),
        };
        if !tag.is_inline && name.trim_start_matches("r#") != tag.name {
            text.attribute(&format!("#[serde(rename = {:?})]", tag.name), place);
        }
        text.push("pub ");
        text.part(&name, place);
        text.push(": ");
        if is_schemaless {
            text.part("()", &field.ty.place);
        } else {
            self.ty(text, at, &field.ty);
        }
        text.push(",\n");
    }
}

/// Whether a name in JSON can also be the field's name in Rust, which then needs no attribute.
fn is_identifier(json: &str) -> bool {
    json.starts_with(|c: char| c.is_ascii_alphabetic())
        && json.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The name of an embedded field.
fn base_name(ty: &Type) -> &str {
    match &ty.kind {
        Kind::Name(name) | Kind::Qualified(_, name) => name,
        Kind::Pointer(inner) => base_name(inner),
        _ => "embedded",
    }
}
