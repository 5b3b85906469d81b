//! Checks constants that attributes name as defaults.

use kubesmith_core::grammar::Spanned;
use kubesmith_core::model::{Body, FieldModel, TypeModel};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{DeriveInput, Path};

/// Uses each of them, so that rustc reports missing ones and none as unused.
///
/// `kubesmith generate` checks those of a type with parameters (`Self::SIZE`).
pub(crate) fn used(model: &TypeModel, input: &DeriveInput) -> TokenStream {
    let plain = input.generics.params.is_empty();
    let paths = fields(&model.body).into_iter().filter_map(|field| field.schema.default_ref.as_ref());
    paths
        .filter_map(|path| path_of(path, plain.then_some(&input.ident)))
        .map(|path| {
            quote! {
                const _: () = { let _ = &#path; };
            }
        })
        .collect()
}

fn fields(body: &Body) -> Vec<&FieldModel> {
    match body {
        Body::Named(fields) | Body::Tuple(fields) => fields.iter().collect(),
        Body::Enum(variants) => variants.iter().flat_map(|variant| fields(&variant.body)).collect(),
        Body::Unit => Vec::new(),
    }
}

/// The path at its place; the type's name replaces `Self`, which is known only inside its impls.
fn path_of(written: &Spanned<String>, own: Option<&Ident>) -> Option<Path> {
    let mut path: Path = syn::parse_str(&written.value).ok()?;
    for segment in &mut path.segments {
        segment.ident.set_span(written.span);
    }
    if let Some(first) = path.segments.first_mut().filter(|first| first.ident == "Self") {
        first.ident = own?.clone();
    }
    Some(path)
}
