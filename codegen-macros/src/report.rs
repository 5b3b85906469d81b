//! Diagnostics as compiler errors.

use kubesmith_core::diag::{Diagnostics, Severity};
use proc_macro2::TokenStream;
use quote::quote_spanned;

/// A `compile_error!` for each error, at its place. Warnings have no counterpart in a macro.
pub(crate) fn compile_errors(diagnostics: Diagnostics) -> TokenStream {
    diagnostics
        .into_vec()
        .into_iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| {
            let text = diagnostic.to_text();
            quote_spanned! { diagnostic.span => ::core::compile_error! { #text } }
        })
        .collect()
}
