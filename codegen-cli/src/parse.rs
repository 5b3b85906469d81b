//! From the text of a file to its items: core reads attributes, everything is turned into plain values.
//!
//! Runs on any thread: spans are resolved to byte ranges before it returns. Only local facts are
//! looked at; no other file is known here.

mod derives;
mod facts;
mod kube;
mod manifests;
mod markers;
mod places;
mod types;
pub(crate) mod uses;
mod values;

use kubesmith_core::diag::{Code, Diagnostics};
use kubesmith_core::grammar::{Place, is_marker, marker_name};
use kubesmith_core::model::{
    Body, FieldModel, ModuleAttrs, ResourceInput, SchemaAttrs, SerdeDefault, TypeModel, VariantModel,
    is_option,
};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Item, Meta, Visibility as SynVisibility};

use self::derives::{DeriveNames, Derives};
use self::kube::KubeDerives;
use crate::cfg::Cfg;
use crate::diag::Diagnostic;
use crate::docs;
use crate::nesting;
use crate::source::{FileId, Loc};
use crate::syntax::facts::{ManifestFacts, ModuleFacts};
use crate::syntax::kube::CustomResource;
use crate::syntax::{
    ContainerSerde, Derived, FieldItem, FieldSerde, FileSyntax, Items, ModuleItem, Name, TypeItem, TypeKind,
    UseItem, VariantItem, VariantKind, Visibility,
};

/// Parses a file, as far as conditions let it be compiled. After a syntax error there are no items.
pub fn parse_file(file: FileId, text: &str, cfg: &Cfg) -> (FileSyntax, Vec<Diagnostic>) {
    let mut items = Items::default();
    let mut manifests = ManifestFacts::default();
    let (offset, parsed) = match tree(file, text) {
        Ok(tree) => tree,
        Err(diagnostics) => return (FileSyntax { file, items, manifests }, diagnostics),
    };
    let mut parser =
        Parser { file, offset, cfg, derive_names: DeriveNames::default(), diagnostics: Vec::new() };
    if cfg.active(&parsed.attrs) {
        items.facts = parser.module_facts(&parsed.attrs);
        parser.items(&parsed.items, &mut items);
        manifests = parser.manifests(&parsed, &text[offset..]);
        parser.plain_comments(text);
    }
    (FileSyntax { file, items, manifests }, parser.diagnostics)
}

/// The syntax tree of a text, and how many bytes lie before what its spans count from.
///
/// # Errors
/// A diagnostic for each place that is no Rust.
pub(crate) fn tree(file: FileId, text: &str) -> Result<(usize, syn::File), Vec<Diagnostic>> {
    let (offset, body) = body(text);
    if let Err(at) = nesting::check(body) {
        let at = u32::try_from(offset + at).unwrap_or(u32::MAX);
        let loc = Loc { file, start: at, end: at.saturating_add(1) };
        let diagnostic = Diagnostic::error(Code::SYNTAX_ERROR, loc, nesting::message());
        return Err(vec![diagnostic.note("nothing of the file was read")]);
    }
    let diagnostic = |error: syn::Error| {
        let message = match error.to_string().as_str() {
            // What the lexer says of everything.
            "cannot parse string into token stream" | "lex error" => {
                "a bracket or quote is not closed, or a character has no place in Rust".to_string()
            }
            message => message.to_string(),
        };
        Diagnostic::error(Code::SYNTAX_ERROR, loc(file, offset, error.span()), message)
            .note("the file is not valid Rust, so nothing of it was read")
    };
    let parsed = syn::parse_file(body);
    parsed.map(|parsed| (offset, parsed)).map_err(|errors| errors.into_iter().map(diagnostic).collect())
}

/// The place of a span that counts from `offset`.
pub(crate) fn loc(file: FileId, offset: usize, span: Span) -> Loc {
    let range = span.byte_range();
    let at = |byte: usize| u32::try_from(byte + offset).unwrap_or(u32::MAX);
    Loc { file, start: at(range.start), end: at(range.end) }
}

/// The text without byte order mark and `#!` line, and its offset: syn's spans begin after them.
fn body(text: &str) -> (usize, &str) {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut offset = text.len() - rest.len();
    let is_script = rest.strip_prefix("#!").is_some_and(|line| !line.trim_start().starts_with('['));
    if is_script {
        offset += rest.find('\n').unwrap_or(rest.len());
    }
    (offset, &text[offset..])
}

struct Parser<'a> {
    file: FileId,
    /// Bytes before the parsed text.
    offset: usize,
    cfg: &'a Cfg,
    /// Names of macros in the module that is read.
    derive_names: DeriveNames,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn loc(&self, span: Span) -> Loc {
        loc(self.file, self.offset, span)
    }

    fn name(&self, ident: &Ident) -> Name {
        Name { text: ident.unraw().to_string(), loc: self.loc(ident.span()) }
    }

    /// Takes over what core found.
    fn report(&mut self, diagnostics: Diagnostics) {
        for d in diagnostics.into_vec() {
            let secondary =
                d.secondary.iter().map(|label| (self.loc(label.span), label.text.clone())).collect();
            self.diagnostics.push(Diagnostic {
                code: d.code,
                severity: d.severity,
                message: d.message,
                primary: Some(self.loc(d.span)),
                label: d.label,
                secondary,
                notes: d.notes,
                help: d.help,
            });
        }
    }

    fn items(&mut self, items: &[Item], out: &mut Items) {
        let inner = DeriveNames::of(items, &self.derive_names);
        let outer = std::mem::replace(&mut self.derive_names, inner);
        self.module_items(items, out);
        self.derive_names = outer;
    }

    fn module_items(&mut self, items: &[Item], out: &mut Items) {
        for item in items.iter().filter(|item| self.cfg.active(attributes(item))) {
            match item {
                Item::Struct(item) => out.types.push(self.structure(item)),
                Item::Enum(item) => out.types.push(self.enumeration(item)),
                Item::Type(item) => out.types.push(self.alias(item)),
                Item::Union(item) => out.types.push(self.union(item)),
                Item::Trait(item) => {
                    let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
                    definition.kind = TypeKind::Other("a trait");
                    out.types.push(definition);
                }
                Item::Mod(item) => {
                    let module = self.module_item(item);
                    out.modules.push(module);
                }
                Item::Use(item) => {
                    let mut path = Vec::new();
                    let global = item.leading_colon.is_some();
                    uses::leaves(&item.tree, visibility(&item.vis), global, &mut path, &mut out.uses);
                }
                Item::ExternCrate(item) => out.uses.push(extern_crate(item)),
                Item::Impl(item) => out.impls.extend(self.impl_item(item)),
                // With a name it is `macro_rules!`.
                Item::Macro(item) if item.ident.is_none() => out.macros.extend(self.macro_item(&item.mac)),
                item => out.values.extend(self.value_item(item)),
            }
        }
    }

    /// The name of a macro that stands for items. What a file that is included holds may be part of the API.
    fn macro_item(&mut self, item: &syn::Macro) -> Option<Name> {
        let name = self.name(&item.path.segments.last()?.ident);
        if name.text == "include" {
            self.diagnostics.push(
                Diagnostic::warning(Code::INCLUDED_FILE, name.loc, "the file that is included is not read")
                    .note("what it defines is neither generated nor found when types are looked up")
                    .help("declare the file as a module: `#[path = \"...\"] mod name;`"),
            );
        }
        Some(name)
    }

    fn module_item(&mut self, item: &syn::ItemMod) -> ModuleItem {
        let attributes = self.cfg.expanded(&item.attrs);
        let path = attributes.iter().find(|attribute| attribute.path().is_ident("path"));
        let path = path.and_then(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => string(&pair.value),
            _ => None,
        });
        let inline = item.content.as_ref().map(|(_, items)| {
            let mut inner = Items::default();
            self.items(items, &mut inner);
            inner
        });
        let facts = self.module_facts(&item.attrs);
        ModuleItem { name: self.name(&item.ident), visibility: visibility(&item.vis), path, facts, inline }
    }

    fn module_facts(&mut self, attributes: &[Attribute]) -> ModuleFacts {
        let mut diagnostics = Diagnostics::new();
        let attrs = ModuleAttrs::read(attributes, &mut diagnostics);
        self.report(diagnostics);
        self.module(&attrs)
    }

    /// Warns of markers in comments that are no documentation: nobody else gets to see them.
    fn plain_comments(&mut self, text: &str) {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let (at, trimmed) = (start + line.len() - line.trim_start().len(), line.trim());
            start += line.len();
            let comment = trimmed.strip_prefix("//").filter(|rest| !rest.starts_with(['/', '!']));
            let marker = comment.and_then(marker_name);
            let Some(name) = marker.filter(|name| is_marker(name) && !manifests::counts(name)) else {
                continue;
            };
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let loc = Loc { file: self.file, start: byte(at), end: byte(at + trimmed.len()) };
            self.diagnostics.push(
                Diagnostic::warning(
                    Code::PLAIN_COMMENT_MARKER,
                    loc,
                    format!(
                        "the marker `+{name}` stands in a comment that is no doc comment, so it does nothing"
                    ),
                )
                .help("write `///` on a type or field, `//!` at the top of a module"),
            );
        }
    }

    fn type_item(&self, ident: &Ident, vis: &SynVisibility, generics: &syn::Generics) -> TypeItem {
        TypeItem {
            name: self.name(ident),
            visibility: visibility(vis),
            non_exhaustive: false,
            description: None,
            generics: self.params(generics),
            kind: TypeKind::Unit,
            checked: false,
            unread_marker: None,
            facts: Default::default(),
            serde: ContainerSerde::default(),
            derived: Derived::default(),
            resource: None,
            genclient: None,
            schemars: None,
            custom_resource: None,
        }
    }

    fn structure(&mut self, item: &syn::ItemStruct) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        let expanded = self.cfg.structure(item);
        let item = expanded.as_ref().unwrap_or(item);
        definition.non_exhaustive = is_non_exhaustive(&item.attrs);
        let names = self.derive_names.derives(&item.attrs);
        let (derives, kube) = (Derives::of(&names, &item.attrs), KubeDerives::of(&names));
        definition.schemars = self.derived_struct(item, kube).map(Box::new);
        definition.custom_resource = self.kube_item(&item.ident, &item.attrs, kube);
        let mut diagnostics = Diagnostics::new();
        if derives.resource {
            if let Some(input) = ResourceInput::from_struct(item, &mut diagnostics) {
                definition.resource = Some(Box::new(self.resource(&input)));
                definition.genclient = input.genclient.as_ref().map(|tags| self.genclient(tags));
                self.model(&input.model, &mut definition, true);
            }
        } else {
            let model = TypeModel::from_struct(item, Place::Struct, &mut diagnostics);
            self.model(&model, &mut definition, derives.schema);
        }
        definition.unread_marker = self.unread_marker(derives, markers::of_struct(item));
        self.finish(&mut definition, derives, diagnostics);
        definition
    }

    fn kube_item(
        &mut self,
        ident: &Ident,
        attributes: &[Attribute],
        derives: KubeDerives,
    ) -> Option<Box<CustomResource>> {
        if !derives.resource {
            return None;
        }
        self.custom_resource(ident, attributes).map(Box::new)
    }

    fn enumeration(&mut self, item: &syn::ItemEnum) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        let expanded = self.cfg.enumeration(item);
        let item = expanded.as_ref().unwrap_or(item);
        definition.non_exhaustive = is_non_exhaustive(&item.attrs);
        let names = self.derive_names.derives(&item.attrs);
        let (derives, kube) = (Derives::of(&names, &item.attrs), KubeDerives::of(&names));
        definition.non_exhaustive |= item.variants.iter().any(|variant| is_non_exhaustive(&variant.attrs));
        definition.schemars = self.derived_enum(item, kube).map(Box::new);
        definition.custom_resource = self.kube_item(&item.ident, &item.attrs, kube);
        let mut diagnostics = Diagnostics::new();
        if derives.resource {
            // What the macro says of it; it never becomes a resource.
            ResourceInput::from_derive(&derive_input(item), &mut diagnostics);
        } else {
            let model = TypeModel::from_enum(item, &mut diagnostics);
            self.model(&model, &mut definition, derives.schema);
        }
        definition.unread_marker = self.unread_marker(derives, markers::of_enum(item));
        self.finish(&mut definition, derives, diagnostics);
        definition
    }

    /// Markers on an alias are ours: no macro could read them.
    fn alias(&mut self, item: &syn::ItemType) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        let item = syn::ItemType { attrs: self.cfg.expanded(&item.attrs), ..item.clone() };
        let mut diagnostics = Diagnostics::new();
        let model = TypeModel::from_alias(&item, &mut diagnostics);
        self.report(diagnostics);
        definition.description = description(&model.docs);
        definition.facts = self.facts(&model.validation, &model.schema, None);
        definition.kind = TypeKind::Alias(self.type_expr(&item.ty));
        definition
    }

    fn union(&mut self, item: &syn::ItemUnion) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        definition.kind = TypeKind::Other("a union");
        let derives = Derives::of(&self.derive_names.derives(&item.attrs), &item.attrs);
        if derives.resource || derives.schema {
            let mut diagnostics = Diagnostics::new();
            let data = syn::DataUnion { union_token: item.union_token, fields: item.fields.clone() };
            let input = syn::DeriveInput {
                attrs: item.attrs.clone(),
                vis: item.vis.clone(),
                ident: item.ident.clone(),
                generics: item.generics.clone(),
                data: syn::Data::Union(data),
            };
            TypeModel::from_derive(&input, Place::Struct, &mut diagnostics);
            self.finish(&mut definition, derives, diagnostics);
        }
        definition
    }

    /// Without one of our derives the attributes are somebody else's: rustc refuses them or another macro owns them.
    fn finish(&mut self, definition: &mut TypeItem, derives: Derives, mut diagnostics: Diagnostics) {
        definition.checked = derives.resource || derives.schema;
        definition.derived = derives.serde;
        if definition.checked {
            self.report(diagnostics);
        } else {
            diagnostics.take();
        }
    }

    fn model(&mut self, model: &TypeModel, definition: &mut TypeItem, ours: bool) {
        definition.description = description(&model.docs);
        if ours {
            definition.facts = self.facts(&model.validation, &model.schema, None);
            definition.description = said(&model.schema, definition.description.take());
        }
        let serde = &model.serde;
        definition.serde = ContainerSerde {
            default: serde.default.is_some(),
            transparent: serde.transparent,
            tag: serde.tag.as_ref().map(|tag| tag.value.clone()),
            content: serde.content.as_ref().map(|content| content.value.clone()),
            untagged: serde.untagged,
            read_as: serde.read_as.as_ref().and_then(|ty| self.type_in_text(&ty.value, ty.span)),
            written_as: serde.written_as.as_ref().and_then(|ty| self.type_in_text(&ty.value, ty.span)),
        };
        definition.kind = match &model.body {
            Body::Named(fields) => TypeKind::Struct(self.fields(fields, ours)),
            Body::Tuple(fields) => TypeKind::Tuple(self.fields(fields, ours)),
            Body::Unit => TypeKind::Unit,
            Body::Enum(variants) => {
                TypeKind::Enum(variants.iter().map(|variant| self.variant(variant, ours)).collect())
            }
        };
    }

    fn fields(&mut self, fields: &[FieldModel], ours: bool) -> Vec<FieldItem> {
        fields.iter().map(|field| self.field(field, ours)).collect()
    }

    fn field(&mut self, field: &FieldModel, ours: bool) -> FieldItem {
        let name = match &field.ident {
            Some(ident) => self.name(ident),
            None => Name { text: field.name.clone(), loc: self.loc(field.span()) },
        };
        let serde = &field.serde;
        FieldItem {
            description: if ours {
                said(&field.schema, description(&field.docs))
            } else {
                description(&field.docs)
            },
            ty: self.type_expr(&field.ty),
            public: field.public,
            json_name: field.name.clone(),
            serde: FieldSerde {
                default: serde.default.is_some(),
                default_fn: match &serde.default {
                    Some(SerdeDefault::Path(path)) => {
                        self.path_in_text(path, serde.key("default").unwrap_or_else(|| field.span()))
                    }
                    _ => None,
                },
                skip: serde.skipped(),
                skip_serializing_if: serde.skip_serializing_if.is_some(),
                flatten: serde.flatten,
                option_hint: is_option(&field.ty),
                with: serde.with.as_ref().map(|with| self.loc(with.span)),
                aliases: serde.aliases.clone(),
            },
            facts: if ours {
                self.facts(&field.validation, &field.schema, field.presence.as_ref())
            } else {
                Default::default()
            },
            name,
        }
    }

    fn variant(&mut self, variant: &VariantModel, ours: bool) -> VariantItem {
        VariantItem {
            name: self.name(&variant.ident),
            json_name: variant.name.clone(),
            description: description(&variant.docs),
            aliases: variant.serde.aliases.clone(),
            skip: variant.serde.skip_deserializing,
            untagged: variant.serde.untagged,
            other: variant.serde.other,
            with: variant.serde.with.as_ref().map(|with| self.loc(with.span)),
            kind: match &variant.body {
                Body::Named(fields) => VariantKind::Struct(self.fields(fields, ours)),
                Body::Tuple(fields) => VariantKind::Tuple(self.fields(fields, ours)),
                Body::Unit | Body::Enum(_) => VariantKind::Unit,
            },
        }
    }
}

fn is_non_exhaustive(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"))
}

/// The description that an attribute says, or else the doc comment.
fn said(attrs: &SchemaAttrs, documented: Option<String>) -> Option<String> {
    attrs.description.as_ref().map(|text| text.value.clone()).or(documented)
}

fn description(lines: &[String]) -> Option<String> {
    docs::description(lines.iter().map(String::as_str))
}

/// The enum as a derive macro gets it.
fn derive_input(item: &syn::ItemEnum) -> syn::DeriveInput {
    syn::DeriveInput {
        attrs: item.attrs.clone(),
        vis: item.vis.clone(),
        ident: item.ident.clone(),
        generics: item.generics.clone(),
        data: syn::Data::Enum(syn::DataEnum {
            enum_token: item.enum_token,
            brace_token: item.brace_token,
            variants: item.variants.clone(),
        }),
    }
}

fn string(expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

pub(crate) fn visibility(vis: &SynVisibility) -> Visibility {
    match vis {
        SynVisibility::Public(_) => Visibility::Public,
        SynVisibility::Restricted(_) => Visibility::Restricted,
        SynVisibility::Inherited => Visibility::Private,
    }
}

/// What `extern crate` binds, beside adding to the extern prelude.
fn extern_crate(item: &syn::ItemExternCrate) -> UseItem {
    let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
    let own = item.ident == "self";
    UseItem {
        visibility: visibility(&item.vis),
        global: !own,
        segments: vec![if own { "crate".into() } else { item.ident.unraw().to_string() }],
        binding: Some(name.unraw().to_string()),
    }
}

/// The attributes of an item.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Items, Vec<Diagnostic>) {
        let cfg = Cfg { features: ["x".to_string()].into() };
        let (file, diagnostics) = parse_file(FileId(0), text, &cfg);
        (file.items, diagnostics)
    }

    #[test]
    fn uses_are_split_into_leaves() {
        let (items, _) =
            parse("pub use a::{self, b::C as D, e::*}; use ::x::Y; extern crate z; extern crate q as r;");
        let leaves: Vec<_> =
            items.uses.iter().map(|u| (u.segments.join("::"), u.binding.as_deref(), u.global)).collect();
        assert_eq!(
            leaves,
            [
                ("a".to_string(), Some("a"), false),
                ("a::b::C".to_string(), Some("D"), false),
                ("a::e".to_string(), None, false),
                ("x::Y".to_string(), Some("Y"), true),
                ("z".to_string(), Some("z"), true),
                ("q".to_string(), Some("r"), true),
            ]
        );
    }

    #[test]
    fn places_are_bytes_of_the_file() {
        for prefix in ["", "\u{feff}", "#!/usr/bin/env run\n", "\u{feff}#!x\n", "#![allow(x)]\n", "// ünï\n"]
        {
            let text = format!("{prefix}struct Ünit {{ a: Ä }}");
            let (items, diagnostics) = parse(&text);
            assert_eq!(diagnostics, []);
            assert_eq!(&text[items.types[0].name.loc.range()], "Ünit", "{prefix:?}");
        }
    }

    #[test]
    fn test_items_are_skipped() {
        let (items, _) = parse("#[cfg(test)] mod tests { struct A; } #[cfg(test)] struct B; struct C;");
        assert_eq!(items.types.len(), 1);
        assert!(items.modules.is_empty());
    }

    #[test]
    fn a_syntax_error_is_a_diagnostic() {
        let (_, diagnostics) = parse("struct A {\n  a: ,\n}");
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].code, Code::SYNTAX_ERROR);
    }

    #[test]
    fn conditional_attributes_count() {
        let (items, _) = parse("#[cfg_attr(feature = \"x\", derive(Schema))] struct A { }");
        assert!(items.types[0].checked);
        let (items, _) = parse("#[cfg_attr(feature = \"y\", derive(Schema))] struct A { }");
        assert!(!items.types[0].checked);
    }
}
