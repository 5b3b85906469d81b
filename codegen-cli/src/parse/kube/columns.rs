//! Reads columns and the scale subresource, which kube also accepts as JSON.

use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use serde::Deserialize;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Ident, LitStr, Meta, MetaList, Token};

use super::Parser;

/// A column as JSON, the form of older versions of kube.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Column {
    description: Option<String>,
    format: Option<String>,
    json_path: String,
    name: String,
    priority: Option<i32>,
    #[serde(rename = "type")]
    kind: String,
}

/// The scale subresource as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scale {
    label_selector_path: Option<String>,
    spec_replicas_path: String,
    status_replicas_path: String,
}

impl Parser<'_> {
    pub(super) fn kube_columns(&mut self, meta: &Meta) -> Option<Vec<TokenStream>> {
        let span = meta.path().span();
        if let Meta::List(list) = meta {
            let names = ["name", "json_path", "description", "format", "priority"].map(|name| (name, name));
            let keys = self.renamed(list, &[&[("type_", "type")], &names[..]].concat())?;
            return Some(vec![quote_spanned! {span=> print_column(#keys) }]);
        }
        let text = self.kube_text(meta)?;
        // Old versions of kube accept several columns in one string.
        let Ok(columns) = serde_json::from_str::<Vec<Column>>(&format!("[{}]", text.value())) else {
            return self
                .wrong_value(meta, "a column: `(name = \"...\", type_ = \"...\", json_path = \"...\")`");
        };
        Some(columns.into_iter().map(|found| column(found, text.span())).collect())
    }

    pub(super) fn kube_scale(&mut self, meta: &Meta) -> Option<TokenStream> {
        let span = meta.path().span();
        if let Meta::List(list) = meta {
            let names = [
                ("spec_replicas_path", "spec_path"),
                ("status_replicas_path", "status_path"),
                ("label_selector_path", "selector_path"),
            ];
            let keys = self.renamed(list, &names)?;
            return Some(quote_spanned! {span=> scale(#keys) });
        }
        let text = self.kube_text(meta)?;
        let Ok(scale) = serde_json::from_str::<Scale>(&text.value()) else {
            return self.wrong_value(
                meta,
                "paths: `(spec_replicas_path = \"...\", status_replicas_path = \"...\")`",
            );
        };
        let lit = |value: &str| LitStr::new(value, text.span());
        let (spec, status) = (lit(&scale.spec_replicas_path), lit(&scale.status_replicas_path));
        let selector = scale.label_selector_path.map(|path| {
            let path = lit(&path);
            quote! { , selector_path = #path }
        });
        Some(quote_spanned! {span=> scale(spec_path = #spec, status_path = #status #selector) })
    }

    /// The arguments of a list, renamed to their names in `#[resource]`.
    fn renamed(&mut self, list: &MetaList, names: &[(&str, &str)]) -> Option<TokenStream> {
        let Ok(metas) = list.parse_args_with(Punctuated::<Argument, Token![,]>::parse_terminated) else {
            return self.wrong_value(&Meta::List(list.clone()), "arguments: `(key = value, ...)`");
        };
        let mut out = Vec::new();
        for pair in metas {
            let name = pair.name.to_string();
            let Some((_, ours)) = names.iter().find(|(theirs, _)| *theirs == name) else {
                let near = closest(&name, names.iter().map(|(theirs, _)| *theirs));
                let help = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
                let outer = list.path.get_ident().map(ToString::to_string).unwrap_or_default();
                self.kube_error(
                    Code::UNKNOWN_KEY,
                    pair.name.span(),
                    &format!("unknown key `{name}` in `{outer}` of #[kube]"),
                    &help,
                );
                return None;
            };
            let key = key_ident(ours, pair.name.span());
            let value = match &pair.value {
                // darling also accepts numbers in strings.
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) if name == "priority" => {
                    text.parse().unwrap_or_else(|_| pair.value.clone())
                }
                value => value.clone(),
            };
            out.push(quote! { #key = #value });
        }
        Some(quote! { #(#out),* })
    }
}

/// `key = value`, where the key may be a keyword such as `type`.
struct Argument {
    name: Ident,
    value: syn::Expr,
}

impl syn::parse::Parse for Argument {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(syn::ext::IdentExt::parse_any)?;
        let _: Token![=] = input.parse()?;
        Ok(Self { name, value: input.parse()? })
    }
}

/// A column as arguments of `#[resource(..)]`.
fn column(column: Column, span: Span) -> TokenStream {
    let Column { description, format, json_path, name, priority, kind } = column;
    let texts = [
        ("name", Some(name)),
        ("type", Some(kind)),
        ("json_path", Some(json_path)),
        ("description", description),
        ("format", format),
    ];
    let texts = texts.into_iter().filter_map(|(key, value)| {
        let (key, value) = (key_ident(key, span), LitStr::new(&value?, span));
        Some(quote! { #key = #value })
    });
    let priority = priority.map(|priority| {
        let priority = proc_macro2::Literal::i32_unsuffixed(priority);
        quote! { priority = #priority }
    });
    let keys = texts.chain(priority);
    quote_spanned! {span=> print_column(#(#keys),*) }
}

/// A key; `type` is a keyword.
fn key_ident(name: &str, span: Span) -> Ident {
    Ident::new(name, span)
}
