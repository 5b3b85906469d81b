//! Macros of std whose values are known from the source: `env!`, `option_env!`, `stringify!`, `concat!`.

use proc_macro2::TokenTree;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, LitStr, Token};

use super::Parser;
use crate::syntax::{PathExpr, ValueExpr, ValueKind};

impl Parser<'_> {
    /// The value of a call; `None`: it is another macro.
    pub(super) fn built_in_macro(&self, call: &syn::Macro) -> Option<ValueKind> {
        let name = call.path.segments.last()?.ident.to_string();
        Some(match name.as_str() {
            "concat" => self.concatenated(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "stringify" => stringified(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "env" => self.variable(call).map_or(ValueKind::Unknown, ValueKind::Text),
            "option_env" => self.variable(call).map_or(ValueKind::Unknown, |text| self.some(call, text)),
            _ => return None,
        })
    }

    /// A variable that Cargo sets for every build. Others are those of the machine that builds.
    fn variable(&self, call: &syn::Macro) -> Option<String> {
        let arguments = call.parse_body_with(Punctuated::<LitStr, Token![,]>::parse_terminated).ok()?;
        self.cfg.env.get(&arguments.first()?.value()).cloned()
    }

    fn some(&self, call: &syn::Macro, text: String) -> ValueKind {
        let loc = self.loc(syn::spanned::Spanned::span(&call.path));
        let some = PathExpr { global: false, segments: vec!["Some".to_string()], arguments: Vec::new(), loc };
        ValueKind::Call(some, vec![ValueExpr { kind: ValueKind::Text(text), loc }])
    }

    fn concatenated(&self, call: &syn::Macro) -> Option<String> {
        let items = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
        items.iter().map(|item| self.displayed(item)).collect()
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

/// The text of a token. How rustc spaces several depends on its version.
fn stringified(call: &syn::Macro) -> Option<String> {
    let mut tokens = call.tokens.clone().into_iter();
    match (tokens.next()?, tokens.next()) {
        (TokenTree::Group(_), _) | (_, Some(_)) => None,
        (token, None) => Some(token.to_string()),
    }
}
