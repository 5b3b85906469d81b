//! `#[derive(Schema)]`

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::Place;
use kubesmith_core::model::TypeModel;
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::constants;
use crate::report::compile_errors;

/// Expands to
///
/// ```text
/// impl ::kubesmith_runtime::api::Schema for BackendSpec {}
/// ```
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut diagnostics = Diagnostics::new();
    let model = TypeModel::from_derive(&input, Place::Struct, &mut diagnostics);
    let constants = model.map(|model| constants::used(&model, &input));
    let errors = compile_errors(diagnostics);
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #errors
        #constants
        #[automatically_derived]
        impl #impl_generics ::kubesmith_runtime::api::Schema for #ident #type_generics #where_clause {}
    }
}
