//! Translates the arguments of `crd(..)` to `#[kube(..)]`.

use proc_macro2::Ident;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, Meta, Type, parse_quote_spanned};

use super::{Mistake, Result, metas, name, text};

/// The arguments of a kind.
#[derive(Default)]
pub(super) struct CrdArguments {
    /// Arguments that `#[kube]` takes unchanged.
    passed: Vec<Meta>,
    kind: Option<LitStr>,
    status: Option<Meta>,
    /// `skip(try_convert)` and `skip(merged_crd)` next to it.
    pub(super) skips: (bool, bool),
}

impl CrdArguments {
    pub(super) fn read(meta: &Meta) -> Result<Self> {
        let mut out = Self::default();
        let mut has_group = false;
        for argument in metas(meta)? {
            match name(&argument).as_str() {
                "kind" => out.kind = Some(text(&argument)?),
                "status" => out.status = Some(argument),
                // Arguments of older versions.
                "crates" | "options" | "skip" => {}
                key => {
                    has_group |= key == "group";
                    out.passed.push(argument);
                }
            }
        }
        if has_group { Ok(out) } else { Err(Mistake::new(meta.span(), "the argument `group` is missing")) }
    }

    /// `kind`, or the name of the struct without `Spec`.
    pub(super) fn kind(&self, spec: &Ident) -> String {
        let implied = || spec.to_string().trim_end_matches("Spec").to_string();
        self.kind.as_ref().map_or_else(implied, LitStr::value)
    }

    pub(super) fn status(&self) -> Result<Option<Type>> {
        let Some(status) = &self.status else { return Ok(None) };
        Ok(Some(match status {
            Meta::NameValue(syn::MetaNameValue { value: syn::Expr::Path(path), .. }) => {
                Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: path.path.clone() })
            }
            other => text(other)?.parse()?,
        }))
    }

    /// `#[kube(..)]` of a version; `status` replaces the status of the arguments.
    pub(super) fn attribute(&self, spec: &Ident, version: &LitStr, status: Option<Ident>) -> Attribute {
        let kind = LitStr::new(&self.kind(spec), self.kind.as_ref().map_or(spec.span(), LitStr::span));
        let passed = &self.passed;
        let status = match (status, &self.status) {
            (Some(status), _) => Some(quote_spanned! { status.span() => , status = #status }),
            (None, Some(status)) => Some(quote_spanned! { status.span() => , #status }),
            (None, None) => None,
        };
        parse_quote_spanned! { spec.span() => #[kube(version = #version, kind = #kind #status #(, #passed)*)] }
    }
}
