//! Parses the text of a file into items: core reads the attributes, and the results are plain values.
//!
//! Runs on any thread: spans are resolved to byte ranges before it returns. Only local facts are read; other
//! files are unknown here.

mod built_in;
mod definitions;
mod derives;
mod facts;
mod kube;
mod macros;
mod manifests;
mod markers;
mod places;
mod readers;
mod statements;
mod stored;
mod types;
pub(crate) mod uses;
mod values;
mod versioned;

pub(crate) use macros::unread_include;
pub use macros::{ExpansionText, parse_expansion};
pub(crate) use stored::stored;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::{Code, Diagnostics};
use kubesmith_core::grammar::{is_marker, marker_name};
use kubesmith_core::model::ModuleAttrs;
use kubesmith_core::nesting;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Item, Meta, Visibility as SynVisibility};

use crate::cfg::Cfg;
use crate::diag::{self, Diagnostic};
use crate::source::{FileId, Loc};
use crate::syntax::facts::ModuleFacts;
use crate::syntax::{
    DeriveNames, FileSyntax, Items, ModuleItem, Name, Step, TypeItem, TypeKind, UseItem, Visibility,
};

/// Texts of files by the paths that `include_str!` names.
pub type Included = BTreeMap<String, String>;

/// Parses a file, without the items whose conditions do not hold. After a syntax error there are no items.
/// [`FileSyntax::wanted`] lists the files that `include_str!` names and the included texts lack.
pub fn parse_file(file: FileId, text: &str, cfg: &Cfg, included: &Included) -> (FileSyntax, Vec<Diagnostic>) {
    let mut found = FileSyntax::default();
    let (offset, parsed) = match tree(file, text) {
        Ok(tree) => tree,
        Err(diagnostics) => return (found, diagnostics),
    };
    let mut parser = Parser::new(file, offset, cfg, included, DeriveNames::default());
    if cfg.active(&parsed.attrs) {
        found.items.facts = parser.module_facts(&parsed.attrs);
        parser.items(&parsed.items, &mut found.items);
        found.manifests = parser.manifests(&parsed, &text[offset..]);
        found.stored = stored(&text[offset..]);
        parser.plain_comments(text);
    }
    found.wanted = parser.wanted.into_inner();
    (found, parser.diagnostics)
}

/// The name and visibility of a struct or enum.
fn named(item: &Item) -> Option<(&Ident, &syn::Visibility)> {
    match item {
        Item::Struct(item) => Some((&item.ident, &item.vis)),
        Item::Enum(item) => Some((&item.ident, &item.vis)),
        _ => None,
    }
}

/// The syntax tree of a text, and the number of bytes before the origin of its spans.
///
/// # Errors
/// Returns a diagnostic for each place that is not valid Rust.
pub(crate) fn tree(file: FileId, text: &str) -> Result<(usize, syn::File), Vec<Diagnostic>> {
    let (offset, body) = body(text);
    if let Err(at) = nesting::check(body) {
        let at = u32::try_from(offset + at).unwrap_or(u32::MAX);
        let loc = Loc { file, start: at, end: at.saturating_add(1) };
        let diagnostic = Diagnostic::error(Code::SYNTAX_ERROR, loc, nesting::message());
        return Err(vec![diagnostic.note("nothing of the file was read")]);
    }
    let diagnostic = |error: syn::Error| {
        let (text, is_at_end) = (error.to_string(), error.span().byte_range().is_empty());
        let (message, at, label) = match text.as_str() {
            // The lexer's message for every error.
            "cannot parse string into token stream" | "lex error" => (
                "a bracket or quote is not closed, or a character has no place in Rust",
                loc(file, offset, error.span()),
                "",
            ),
            // There is no token with a span.
            message if is_at_end => (message, end(file, offset, body), "nothing follows"),
            message => (message, loc(file, offset, error.span()), ""),
        };
        Diagnostic::error(Code::SYNTAX_ERROR, at, message)
            .label(label)
            .note("the file is not valid Rust, so nothing of it was read")
            .help("correct it; `cargo check` reports the same error, often with a suggestion")
    };
    let parsed = syn::parse_file(body);
    parsed.map(|parsed| (offset, parsed)).map_err(|errors| errors.into_iter().map(diagnostic).collect())
}

/// The location of the last character that is no space.
fn end(file: FileId, offset: usize, body: &str) -> Loc {
    let body = body.trim_end();
    let last = body.char_indices().next_back().map_or(0, |(at, _)| at);
    let at = |byte: usize| u32::try_from(byte + offset).unwrap_or(u32::MAX);
    Loc { file, start: at(last), end: at(body.len()) }
}

/// The location of a span relative to `offset`.
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
    /// Texts of files by the paths that `include_str!` names.
    included: &'a Included,
    /// Paths without a text.
    wanted: RefCell<BTreeSet<String>>,
    /// Names of macros in the current module.
    derive_names: DeriveNames,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(file: FileId, offset: usize, cfg: &'a Cfg, included: &'a Included, names: DeriveNames) -> Self {
        let wanted = RefCell::default();
        Self { file, offset, cfg, included, wanted, derive_names: names, diagnostics: Vec::new() }
    }
}

impl Parser<'_> {
    fn loc(&self, span: Span) -> Loc {
        loc(self.file, self.offset, span)
    }

    fn name(&self, ident: &Ident) -> Name {
        Name { text: ident.unraw().to_string(), loc: self.loc(ident.span()) }
    }

    /// Reports core's diagnostics.
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
        out.derive_names = std::mem::replace(&mut self.derive_names, outer);
    }

    fn module_items(&mut self, items: &[Item], out: &mut Items) {
        for item in items.iter().filter(|item| self.cfg.active(attributes(item))) {
            if let Some(made) = self.versioned(item) {
                self.module_items(&made, out);
                continue;
            }
            match item {
                Item::Struct(_) | Item::Enum(_) | Item::Type(_) | Item::Union(_) => {
                    let definition = self.definition(item);
                    let resource = definition.as_ref().and_then(|it| it.custom_resource.as_deref());
                    let made = resource
                        .zip(named(item))
                        .map(|(resource, (ident, vis))| self.root_type(ident, vis, resource));
                    out.types.extend(definition);
                    out.types.extend(made);
                }
                Item::Trait(item) => {
                    let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
                    definition.kind = TypeKind::Other("a trait");
                    out.types.push(definition);
                }
                Item::Mod(item) => {
                    let module = self.module_item(item);
                    let is_macro_use = is_macro_use(&item.attrs);
                    out.steps.push(Step::Module { at: out.modules.len(), is_macro_use });
                    out.modules.push(module);
                }
                Item::Use(item) => {
                    let mut path = Vec::new();
                    let global = item.leading_colon.is_some();
                    uses::leaves(&item.tree, visibility(&item.vis), global, &mut path, &mut out.uses);
                }
                Item::ExternCrate(item) => {
                    if is_macro_use(&item.attrs) {
                        out.steps.push(Step::Crate(item.ident.unraw().to_string()));
                    }
                    out.uses.push(extern_crate(item));
                }
                Item::Impl(item) => out.impls.extend(self.impl_item(item)),
                Item::Macro(item) if is_lazy_static(item) => out.values.extend(self.lazy_statics(&item.mac)),
                Item::Macro(item) => match self.include(item) {
                    Some(file) => out.modules.push(file),
                    None => out.steps.extend(self.macro_item(item)),
                },
                item => out.values.extend(self.value_item(item)),
            }
        }
    }

    /// A type, and whether its attributes have errors.
    fn definition(&mut self, item: &Item) -> Option<TypeItem> {
        let before = self.diagnostics.len();
        let mut definition = match item {
            Item::Struct(item) => self.structure(item),
            Item::Enum(item) => self.enumeration(item),
            Item::Type(item) => self.alias(item),
            Item::Union(item) => self.union(item),
            _ => return None,
        };
        definition.is_broken = diag::has_errors(&self.diagnostics[before..]);
        Some(definition)
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
        let (name, visibility) = (self.name(&item.ident), visibility(&item.vis));
        ModuleItem { name, visibility, path, is_include: false, facts, inline }
    }

    fn module_facts(&mut self, attributes: &[Attribute]) -> ModuleFacts {
        let mut diagnostics = Diagnostics::new();
        let attrs = ModuleAttrs::read(attributes, &mut diagnostics);
        self.report(diagnostics);
        self.module(&attrs)
    }

    /// Warns of markers in plain comments, which tools ignore.
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
                        "the marker `+{name}` is in a comment that is not a doc comment, so it has no effect"
                    ),
                )
                .help("write `///` on a type or field, `//!` at the top of a module"),
            );
        }
    }
}

fn is_lazy_static(item: &syn::ItemMacro) -> bool {
    item.mac.path.segments.last().is_some_and(|last| last.ident == "lazy_static")
}

/// Whether the macros of a module or crate are visible after it.
fn is_macro_use(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("macro_use"))
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

/// The name that `extern crate` binds, apart from adding to the extern prelude.
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
mod tests;
