//! Implements `#[rbac]`, `#[webhook]`, `#[webhook_configuration]` and `#[policy]`, which only the command acts on.

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{Family, ItemAttributes, Place, parse_attributes};
use kubesmith_core::model::{PolicyAttrs, RbacAttrs, WebhookAttrs, WebhookConfigurationAttrs};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, DeriveInput, parse_quote};

use crate::report::compile_errors;

/// Checks the arguments and returns the item unchanged.
pub(crate) fn attribute(family: Family, arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    checked(family, Place::Item, arguments, item)
}

/// As [`attribute`], for `#[policy]`. kube's `CustomResource` has the attribute `#[kube]`.
pub(crate) fn policy(arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    let is_kind = syn::parse2::<DeriveInput>(item.clone())
        .is_ok_and(|item| item.attrs.iter().any(|attribute| attribute.path().is_ident("kube")));
    let place = if is_kind { Place::Root } else { Place::Struct };
    checked(Family::Policy, place, arguments, item)
}

fn checked(family: Family, place: Place, arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    let name = Ident::new(family.name(), Span::call_site());
    let attribute: Attribute =
        if arguments.is_empty() { parse_quote!(#[#name]) } else { parse_quote!(#[#name(#arguments)]) };
    let attributes = [attribute];
    let mut diagnostics = Diagnostics::new();
    let parsed = parse_attributes(family, &ItemAttributes::new(&attributes), place, &mut diagnostics);
    match family {
        Family::Policy => drop(PolicyAttrs::from_parsed(&parsed, &mut diagnostics)),
        Family::Rbac => drop(RbacAttrs::from_parsed(&parsed, &mut diagnostics)),
        Family::Webhook => drop(WebhookAttrs::from_parsed(&parsed, &mut diagnostics)),
        _ => drop(WebhookConfigurationAttrs::from_parsed(&parsed, &mut diagnostics)),
    }
    let errors = compile_errors(diagnostics);
    quote!(#errors #item)
}
