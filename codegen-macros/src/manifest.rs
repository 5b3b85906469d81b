//! Implements `#[rbac]`, `#[webhook]` and `#[webhook_configuration]`, which only the command acts on.

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{Family, ItemAttributes, Place, parse_attributes};
use kubesmith_core::model::{RbacAttrs, WebhookAttrs, WebhookConfigurationAttrs};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, parse_quote};

use crate::report::compile_errors;

/// Checks the arguments and returns the item unchanged.
pub(crate) fn attribute(family: Family, arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    let name = Ident::new(family.name(), Span::call_site());
    let attribute: Attribute =
        if arguments.is_empty() { parse_quote!(#[#name]) } else { parse_quote!(#[#name(#arguments)]) };
    let attributes = [attribute];
    let mut diagnostics = Diagnostics::new();
    let parsed = parse_attributes(family, &ItemAttributes::new(&attributes), Place::Item, &mut diagnostics);
    match family {
        Family::Rbac => drop(RbacAttrs::from_parsed(&parsed, &mut diagnostics)),
        Family::Webhook => drop(WebhookAttrs::from_parsed(&parsed, &mut diagnostics)),
        _ => drop(WebhookConfigurationAttrs::from_parsed(&parsed, &mut diagnostics)),
    }
    let errors = compile_errors(diagnostics);
    quote!(#errors #item)
}
