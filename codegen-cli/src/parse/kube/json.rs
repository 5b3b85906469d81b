//! Reads JSON in Rust macros: `json!({ .. })` and `json_schema!(..)`.

use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, Token, braced, bracketed};

use super::Parser;
use crate::syntax::code::{self, Kind};

impl Parser<'_> {
    /// The contents of `json!(..)`.
    pub(in crate::parse) fn json_tokens(&self, input: ParseStream<'_>) -> syn::Result<code::Expr> {
        let span = input.span();
        let kind = if input.peek(syn::token::Brace) {
            let content;
            braced!(content in input);
            let mut members = Vec::new();
            while !content.is_empty() {
                let key: Expr = content.parse()?;
                content.parse::<Token![:]>()?;
                members.push((self.value(&key), self.json_tokens(&content)?));
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            Kind::Object(members)
        } else if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            let mut items = Vec::new();
            while !content.is_empty() {
                items.push(self.json_tokens(&content)?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            Kind::List(items)
        } else {
            let expr: Expr = input.parse()?;
            let is_null = matches!(&expr, Expr::Path(path) if path.path.is_ident("null"));
            return Ok(if is_null {
                code::Expr::new(Kind::Null, self.loc(expr.span()))
            } else {
                self.code(&expr)
            });
        };
        Ok(code::Expr::new(kind, self.loc(span)))
    }
}
