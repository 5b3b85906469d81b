//! Parses macros: definitions by example, and calls that expand to items.

use std::sync::Arc;

use kubesmith_core::diag::Code;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::{Included, Parser};
use crate::cfg::Cfg;
use crate::diag::Diagnostic;
use crate::macros::{MacroRules, trees};
use crate::source::FileId;
use crate::syntax::facts::ModuleFacts;
use crate::syntax::{DeriveNames, Items, MacroCall, MacroDefinition, ModuleItem, Name, Step, Visibility};

/// The expansion of a call.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionText<'a> {
    /// Its number among the files.
    pub file: FileId,
    /// Its text.
    pub text: &'a str,
    /// The macro.
    pub name: &'a str,
}

/// Parses the items of an expansion, in a module with these names of derive macros.
pub fn parse_expansion(
    expansion: ExpansionText<'_>,
    cfg: &Cfg,
    names: &DeriveNames,
) -> (Items, Vec<Diagnostic>) {
    let mut items = Items::default();
    let (offset, parsed) = match super::tree(expansion.file, expansion.text) {
        Ok(tree) => tree,
        Err(found) => {
            return (items, found.into_iter().map(|found| unreadable(found, expansion.name)).collect());
        }
    };
    let included = Included::new();
    let mut parser = Parser::new(expansion.file, offset, cfg, &included, names.with(&parsed.items));
    parser.module_items(&parsed.items, &mut items);
    items.derive_names = parser.derive_names;
    (items, parser.diagnostics)
}

fn unreadable(found: Diagnostic, name: &str) -> Diagnostic {
    let message = format!("`{name}!` gives no Rust items: {}", found.message);
    Diagnostic { code: Code::MACRO_EXPANSION, message, notes: Vec::new(), ..found }
}

/// The warning about a file that `include!` names.
pub(crate) fn unread_include(name: &Name) -> Diagnostic {
    Diagnostic::warning(Code::INCLUDED_FILE, name.loc, "the file that is included is not read")
        .note("its items are neither generated nor found when types are looked up")
        .help("declare the file as a module: `#[path = \"...\"] mod name;`")
}

impl Parser<'_> {
    /// `include!("file.rs")` in the place of items.
    pub(super) fn include(&self, item: &syn::ItemMacro) -> Option<ModuleItem> {
        let last = &item.mac.path.segments.last()?.ident;
        let file = item.mac.parse_body::<syn::LitStr>().ok().filter(|_| last == "include")?;
        Some(ModuleItem {
            name: self.name(last),
            visibility: Visibility::Private,
            path: Some(file.value()),
            is_include: true,
            facts: ModuleFacts::default(),
            inline: None,
        })
    }

    /// A definition, or a call. An included file may be part of the API.
    pub(super) fn macro_item(&mut self, item: &syn::ItemMacro) -> Option<Step> {
        let last = &item.mac.path.segments.last()?.ident;
        let input = trees(item.mac.tokens.clone(), &|span| self.loc(span));
        if let Some(name) = &item.ident {
            if last != "macro_rules" {
                return None;
            }
            let is_exported = self
                .cfg
                .expanded(&item.attrs)
                .iter()
                .any(|attribute| attribute.path().is_ident("macro_export"));
            let rules = MacroRules::read(&input);
            let definition = MacroDefinition { name: self.name(name), is_exported, rules };
            return Some(Step::Definition(Arc::new(definition)));
        }
        let name = Name { text: last.unraw().to_string(), loc: self.loc(item.mac.path.span()) };
        if name.text == "include" {
            self.diagnostics.push(unread_include(&name));
        }
        let path = self.path_expr(&item.mac.path);
        let loc = name.loc.to(self.loc(item.mac.span()));
        Some(Step::Call(Arc::new(MacroCall { path, name, input, loc })))
    }
}
