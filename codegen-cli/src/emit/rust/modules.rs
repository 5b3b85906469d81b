//! Emits modules: the tree of groups and versions in a part of the package, and handwritten files.

use proc_macro2::TokenStream;
use quote::quote;

use super::skeleton::{Docs, ident};

/// `mod` items for the files of groups and versions: `(group, title, versions)`, in order.
pub(super) fn tree<'p>(
    what: &str,
    groups: impl IntoIterator<Item = (&'p str, &'p str, Vec<&'p str>)>,
) -> TokenStream {
    let groups = groups.into_iter().map(|(group, title, versions)| {
        let docs = Docs(format!("{what} of the group `{title}`."));
        let (group, versions) = (ident(group), versions.into_iter().map(ident));
        quote!(#docs pub mod #group { #(pub mod #versions;)* })
    });
    quote!(#(#groups)*)
}

/// The handwritten file that extends a kind.
pub(super) fn expansion(module: &str) -> TokenStream {
    let module = ident(&format!("{module}_expansion"));
    quote! {
        #[doc = " Written by hand, beside this file."]
        pub mod #module;
    }
}
