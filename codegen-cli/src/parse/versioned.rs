//! Expands `#[versioned]` of stackable-versioned: one definition for several versions.
//!
//! The rules are those of stackable-versioned-macros 0.11 (`codegen/module.rs`, `codegen/container`,
//! `codegen/item`, `attrs`), and `k8s(..)` and `renamed(..)` of older ones. Conversions between the versions
//! are left out, as no definition depends on them.

mod changes;
mod resources;

use kubesmith_core::diag::Code;
use proc_macro2::{Ident, Span};
use quote::quote_spanned;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Fields, Item, ItemEnum, ItemMod, ItemStruct, LitStr, Meta, Token, Visibility, parse_quote,
    parse_quote_spanned,
};

use super::Parser;
use crate::diag::Diagnostic;
use changes::Changes;
use resources::CrdArguments;

/// The arguments of the attribute on a module or type.
#[derive(Default)]
struct Versioned {
    versions: Vec<Version>,
    crd: Option<CrdArguments>,
    /// `options(preserve_module)`
    keeps_module: bool,
    /// `options(k8s(experimental_conversion_tracking))`
    tracks: bool,
    /// `skip(try_convert)` and `skip(merged_crd)`
    skips: (bool, bool),
    /// The path of stackable-versioned.
    krate: Option<LitStr>,
}

/// `version(name = "v1")`
struct Version {
    name: LitStr,
    /// Lines of documentation for the types of the version.
    docs: Vec<String>,
}

/// An error in the attribute.
pub(super) struct Mistake {
    span: Span,
    message: String,
}

type Result<T> = std::result::Result<T, Mistake>;

impl Mistake {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl From<syn::Error> for Mistake {
    fn from(error: syn::Error) -> Self {
        Self { span: error.span(), message: error.to_string() }
    }
}

impl Parser<'_> {
    /// The items that the macro makes of an item; `None` without the attribute, empty after a diagnostic.
    pub(super) fn versioned(&mut self, item: &Item) -> Option<Vec<Item>> {
        let attribute = super::attributes(item).iter().find(|attribute| is_versioned(attribute))?;
        let made = Versioned::read(attribute).and_then(|versioned| versioned.items(item));
        Some(made.unwrap_or_else(|Mistake { span, message }| {
            let message = format!("#[versioned] cannot be read: {message}");
            self.diagnostics.push(
                Diagnostic::error(Code::MALFORMED_ATTRIBUTE, self.loc(span), message)
                    .help("see the documentation of stackable-versioned"),
            );
            Vec::new()
        }))
    }
}

fn is_versioned(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "versioned")
}

/// The arguments in parentheses.
fn metas(meta: &Meta) -> Result<Vec<Meta>> {
    match meta {
        Meta::Path(_) => Ok(Vec::new()),
        Meta::List(list) => {
            Ok(list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?.into_iter().collect())
        }
        Meta::NameValue(pair) => Err(Mistake::new(pair.value.span(), "arguments stand in parentheses")),
    }
}

fn text(meta: &Meta) -> Result<LitStr> {
    match meta {
        Meta::NameValue(syn::MetaNameValue {
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) => Ok(text.clone()),
        _ => Err(Mistake::new(meta.span(), "the argument takes a string")),
    }
}

fn name(meta: &Meta) -> String {
    meta.path().get_ident().map(ToString::to_string).unwrap_or_default()
}

/// The text as an identifier, if it is one.
fn named(text: &str, span: Span) -> Option<Ident> {
    let mut ident: Ident = syn::parse_str(text).ok()?;
    ident.set_span(span);
    Some(ident)
}

fn unknown<T>(meta: &Meta) -> Result<T> {
    Err(Mistake::new(meta.path().span(), format!("unknown argument `{}`", name(meta))))
}

impl Versioned {
    fn read(attribute: &Attribute) -> Result<Self> {
        let mut out = Self::default();
        for meta in metas(&attribute.meta)? {
            match name(&meta).as_str() {
                "version" => out.versions.push(Version::read(&meta)?),
                "crd" | "k8s" => out.crd = Some(CrdArguments::read(&meta)?),
                "options" => out.options(&meta)?,
                "skip" => out.skip(&meta)?,
                "crates" => {
                    let metas = metas(&meta)?;
                    let own = metas.iter().find(|meta| meta.path().is_ident("versioned"));
                    out.krate = own.map(text).transpose()?;
                }
                _ => return unknown(&meta),
            }
        }
        Ok(out)
    }

    fn options(&mut self, meta: &Meta) -> Result<()> {
        for option in metas(meta)? {
            match name(&option).as_str() {
                "preserve_module" => self.keeps_module = true,
                "allow_unsorted" => {}
                "k8s" => {
                    let inner = metas(&option)?;
                    self.tracks =
                        inner.iter().any(|it| it.path().is_ident("experimental_conversion_tracking"));
                }
                _ => return unknown(&option),
            }
        }
        Ok(())
    }

    fn skip(&mut self, meta: &Meta) -> Result<()> {
        let skipped = metas(meta)?;
        let has = |key: &str| skipped.iter().any(|meta| meta.path().is_ident(key));
        self.skips = (has("try_convert"), has("merged_crd"));
        Ok(())
    }

    fn items(&self, item: &Item) -> Result<Vec<Item>> {
        if self.versions.is_empty() {
            return Err(Mistake::new(item.span(), "at least one `version(name = \"...\")` is needed"));
        }
        match item {
            Item::Mod(item) => self.module(item),
            Item::Struct(structure) => self.modules(&structure.vis, &[item], &[]),
            Item::Enum(enumeration) => self.modules(&enumeration.vis, &[item], &[]),
            other => Err(Mistake::new(other.span(), "the macro takes modules, structs and enums")),
        }
    }

    fn module(&self, item: &ItemMod) -> Result<Vec<Item>> {
        let Some((_, content)) = &item.content else {
            return Err(Mistake::new(item.span(), "the module has to be inline"));
        };
        let (types, others): (Vec<&Item>, Vec<&Item>) =
            content.iter().partition(|item| matches!(item, Item::Struct(_) | Item::Enum(_)));
        let mut inner = Vec::new();
        for other in others {
            match other {
                Item::Mod(module) => inner.push(module),
                other => {
                    return Err(Mistake::new(
                        other.span(),
                        "such an item has no place in a versioned module",
                    ));
                }
            }
        }
        if !self.keeps_module {
            return self.modules(&item.vis, &types, &inner);
        }
        let modules = self.modules(&parse_quote!(pub), &types, &inner)?;
        let (vis, ident) = (&item.vis, &item.ident);
        Ok(vec![parse_quote!(#vis mod #ident { #(#modules)* })])
    }

    /// A module for each version, and the types that they share.
    fn modules(&self, vis: &Visibility, types: &[&Item], inner: &[&ItemMod]) -> Result<Vec<Item>> {
        let mut out = Vec::new();
        for (at, version) in self.versions.iter().enumerate() {
            let Some(ident) = named(&version.name.value(), version.name.span()) else { continue };
            let uses = inner.iter().filter(|module| module.ident == ident);
            let uses: Vec<&Item> =
                uses.flat_map(|module| &module.content).flat_map(|(_, items)| items).collect();
            let made = types.iter().map(|item| self.in_version(item, at)).collect::<Result<Vec<Item>>>()?;
            out.push(parse_quote_spanned! { version.name.span() => #vis mod #ident { use super::*; #(#uses)* #(#made)* } });
        }
        for item in types {
            if let Item::Struct(item) = item {
                out.extend(self.status(item)?);
            }
        }
        Ok(out)
    }

    /// The type in a version.
    fn in_version(&self, item: &Item, at: usize) -> Result<Item> {
        Ok(match item {
            Item::Struct(item) => Item::Struct(self.structure(item, at)?),
            Item::Enum(item) => Item::Enum(self.enumeration(item, at)?),
            other => other.clone(),
        })
    }

    fn structure(&self, item: &ItemStruct, at: usize) -> Result<ItemStruct> {
        let mut out = item.clone();
        out.vis = parse_quote!(pub);
        out.attrs = self.attributes(&item.attrs, at);
        if let Some(arguments) = self.crd_arguments(&item.attrs)? {
            let status = self.status_name(item, &arguments);
            out.attrs.push(arguments.attribute(&item.ident, &self.versions[at].name, status));
        }
        if let Fields::Named(fields) = &mut out.fields {
            let mut kept = Punctuated::new();
            for mut field in std::mem::take(&mut fields.named) {
                let Some(ident) = field.ident.clone() else { continue };
                let changes = Changes::of(&field.attrs, &self.versions)?;
                let Some(state) = changes.at(at, &ident) else { continue };
                field.attrs.retain(|attribute| !is_versioned(attribute));
                field.attrs.extend(state.deprecated);
                field.ident = Some(state.ident);
                field.ty = state.ty.unwrap_or(field.ty);
                field.vis = parse_quote!(pub);
                kept.push(field);
            }
            fields.named = kept;
        }
        Ok(out)
    }

    fn enumeration(&self, item: &ItemEnum, at: usize) -> Result<ItemEnum> {
        let mut out = item.clone();
        out.vis = parse_quote!(pub);
        out.attrs = self.attributes(&item.attrs, at);
        let mut kept = Punctuated::new();
        for mut variant in std::mem::take(&mut out.variants) {
            let changes = Changes::of(&variant.attrs, &self.versions)?;
            let Some(state) = changes.at(at, &variant.ident) else { continue };
            variant.attrs.retain(|attribute| !is_versioned(attribute));
            variant.attrs.extend(state.deprecated);
            variant.ident = state.ident;
            kept.push(variant);
        }
        out.variants = kept;
        Ok(out)
    }

    /// Attributes of a type, those of the version first.
    fn attributes(&self, own: &[Attribute], at: usize) -> Vec<Attribute> {
        let version = &self.versions[at];
        let docs = version.docs.iter().map(|line| -> Attribute {
            parse_quote_spanned! { version.name.span() => #[doc = #line] }
        });
        docs.chain(own.iter().filter(|attribute| !is_versioned(attribute)).cloned()).collect()
    }

    /// `crd(..)` of a type in a module, or next to `version(..)` of a single type.
    fn crd_arguments(&self, attributes: &[Attribute]) -> Result<Option<CrdArguments>> {
        for attribute in attributes.iter().filter(|attribute| is_versioned(attribute)) {
            let own = Self::read(attribute)?;
            if let Some(mut crd) = own.crd {
                crd.skips = own.skips;
                return Ok(Some(crd));
            }
        }
        Ok(None)
    }

    /// The name of the status in which conversions keep values that the target version lacks.
    fn status_name(&self, item: &ItemStruct, arguments: &CrdArguments) -> Option<Ident> {
        let skips = |own: bool, all: bool| own || all;
        let no_convert = skips(arguments.skips.0, self.skips.0);
        let is_skipped = no_convert && skips(arguments.skips.1, self.skips.1);
        let name = format!("{}StatusWithChangedValues", arguments.kind(&item.ident));
        named(&name, item.ident.span()).filter(|_| self.tracks && !is_skipped)
    }

    /// The definition of that status.
    fn status(&self, item: &ItemStruct) -> Result<Option<Item>> {
        let Some(arguments) = self.crd_arguments(&item.attrs)? else { return Ok(None) };
        let Some(name) = self.status_name(item, &arguments) else { return Ok(None) };
        let krate: syn::Path = match &self.krate {
            Some(text) => text.parse()?,
            None => parse_quote!(::stackable_versioned),
        };
        let own = arguments
            .status()?
            .map(|status| quote_spanned! { status.span() => #[serde(flatten)] pub status: #status, });
        Ok(Some(parse_quote_spanned! { item.ident.span() =>
            #[derive(Clone, Default, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
            #[serde(rename_all = "camelCase")]
            pub struct #name { pub changed_values: #krate::ChangedValues, #own }
        }))
    }
}

impl Version {
    fn read(meta: &Meta) -> Result<Self> {
        let (mut found, mut docs) = (None, Vec::new());
        for argument in metas(meta)? {
            match name(&argument).as_str() {
                "name" => found = Some(text(&argument)?),
                // Each line loses the indentation of the source.
                "doc" => {
                    docs =
                        text(&argument)?.value().trim().lines().map(|line| line.trim().to_owned()).collect();
                }
                "deprecated" | "skip" => {}
                _ => return unknown(&argument),
            }
        }
        let name = found.ok_or_else(|| Mistake::new(meta.span(), "a version needs a name"))?;
        match syn::parse_str::<Ident>(&name.value()) {
            Ok(_) => Ok(Self { name, docs }),
            Err(_) => Err(Mistake::new(name.span(), "a version is called like `v1alpha1`")),
        }
    }
}
