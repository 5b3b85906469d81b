//! Evaluates macros of std whose values follow from the source: `env!`, `option_env!`, `stringify!`,
//! `concat!`, `include_str!`, `lazy_static!`.

use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Token, Type, Visibility};

use super::Parser;
use crate::syntax::{PathExpr, TEXT_LIMIT, ValueExpr, ValueItem, ValueKind};

impl Parser<'_> {
    /// The value of a call; `None`: another macro.
    pub(super) fn built_in_macro(&self, call: &syn::Macro) -> Option<ValueKind> {
        let name = call.path.segments.last()?.ident.to_string();
        Some(match name.as_str() {
            "concat" => self.concatenated(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "stringify" => stringified(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "env" => self.variable(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "include_str" => self.included(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "option_env" => self.variable(call).map_or(ValueKind::Unknown, |text| self.some(call, text)),
            _ => return None,
        })
    }

    /// The value of a variable that Cargo sets for every build. Others depend on the building machine.
    fn variable(&self, call: &syn::Macro) -> Option<String> {
        let arguments = call.parse_body_with(Punctuated::<LitStr, Token![,]>::parse_terminated).ok()?;
        self.cfg.env.get(&arguments.first()?.value()).cloned()
    }

    /// The text of a file, which the loader reads at the parser's request.
    fn included(&self, call: &syn::Macro) -> Option<String> {
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
        let path = self.displayed(arguments.first()?)?;
        let found = self.included.get(&path).cloned();
        if found.is_none() {
            self.wanted.borrow_mut().insert(path);
        }
        found
    }

    fn some(&self, call: &syn::Macro, text: String) -> ValueKind {
        let loc = self.loc(syn::spanned::Spanned::span(&call.path));
        let some = PathExpr { global: false, segments: vec!["Some".to_string()], arguments: Vec::new(), loc };
        ValueKind::Call(some, vec![ValueExpr { kind: ValueKind::Text(text), loc }])
    }

    /// The constants that `lazy_static!` declares.
    pub(super) fn lazy_statics(&self, call: &syn::Macro) -> Vec<ValueItem> {
        let declared = call.parse_body_with(|input: ParseStream<'_>| {
            let mut out = Vec::new();
            while !input.is_empty() {
                let attributes = input.call(Attribute::parse_outer)?;
                input.parse::<Visibility>()?;
                input.parse::<Token![static]>()?;
                input.parse::<Token![ref]>()?;
                let name: Ident = input.parse()?;
                input.parse::<Token![:]>()?;
                input.parse::<Type>()?;
                input.parse::<Token![=]>()?;
                let value = input.parse::<Expr>()?;
                if self.cfg.active(&attributes) {
                    out.push((name, value));
                }
                input.parse::<Token![;]>()?;
            }
            Ok(out)
        });
        let declared = declared.unwrap_or_default();
        declared.iter().filter_map(|(name, expr)| self.named_value(name, expr)).collect()
    }

    fn concatenated(&self, call: &syn::Macro) -> Option<String> {
        let items = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
        let mut out = String::new();
        for item in &items {
            out += &self.displayed(item)?;
            if out.len() > TEXT_LIMIT {
                return None;
            }
        }
        Some(out)
    }

    /// A literal as `concat!` writes it.
    fn displayed(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Lit(ExprLit { lit, .. }) => match lit {
                Lit::Str(text) => Some(text.value()),
                Lit::Char(char) => Some(char.value().to_string()),
                Lit::Int(int) => Some(int.base10_digits().to_string()),
                Lit::Bool(bool) => Some(bool.value.to_string()),
                _ => None,
            },
            Expr::Macro(inner) => match self.built_in_macro(&inner.mac)? {
                ValueKind::Text(text) => Some(text),
                _ => None,
            },
            Expr::Group(inner) => self.displayed(&inner.expr),
            Expr::Paren(inner) => self.displayed(&inner.expr),
            _ => None,
        }
    }
}

/// The text of a token. The spacing of several depends on rustc's version.
fn stringified(call: &syn::Macro) -> Option<String> {
    let mut tokens = call.tokens.clone().into_iter();
    match (tokens.next()?, tokens.next()) {
        (TokenTree::Group(_), _) | (_, Some(_)) => None,
        (token, None) => Some(token.to_string()),
    }
}
