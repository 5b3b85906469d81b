//! Reports diagnostics as compiler errors.

use kubesmith_core::diag::{Diagnostic, Diagnostics, Severity};
use proc_macro2::TokenStream;
use quote::quote_spanned;

/// A `compile_error!` for each error, at its place. Warnings have no counterpart in a macro.
pub(crate) fn compile_errors(diagnostics: Diagnostics) -> TokenStream {
    diagnostics
        .into_vec()
        .into_iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .map(|diagnostic| {
            let span = diagnostic.span;
            let text = with_further_places(diagnostic).to_text();
            quote_spanned! { span => ::core::compile_error! { #text } }
        })
        .collect()
}

/// A compiler error has one place, so further places become notes with the line.
fn with_further_places(mut diagnostic: Diagnostic) -> Diagnostic {
    // Outside a macro expansion, as in unit tests, there are no lines.
    if proc_macro::is_available() {
        for label in std::mem::take(&mut diagnostic.secondary) {
            let line = label.span.unwrap().line();
            diagnostic = diagnostic.note(format!("line {line}: {}", label.text));
        }
    }
    diagnostic
}
