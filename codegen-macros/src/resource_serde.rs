//! Derives `Serialize` and `Deserialize` of a root type.
//!
//! serde's own derives do the work, on two shadow structs with the fields and serde attributes of the type.
//! The one for serialization is a remote derive, which borrows the type's fields; a serializer around the
//! caller's puts `apiVersion` and `kind` in front. The one for deserialization has two more fields, which
//! only check `apiVersion` and `kind`.

use kubesmith_core::model::{SerdeContainer, SerdeDefault, SerdeField};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, DeriveInput, Field, Fields, Meta};

/// Expands to
///
/// ```text
/// #[derive(::kubesmith_runtime::serde::Serialize)]
/// #[serde(crate = "::kubesmith_runtime::serde", remote = "EcsBinding", rename = "EcsBinding")]
/// struct __KubesmithWrite { metadata: ObjectMeta, spec: EcsBindingSpec }
///
/// impl ::kubesmith_runtime::serde::Serialize for EcsBinding { ... }
///
/// #[derive(::kubesmith_runtime::serde::Deserialize)]
/// #[serde(crate = "::kubesmith_runtime::serde", expecting = "an object of kind EcsBinding")]
/// struct __KubesmithRead {
///     #[serde(rename = "apiVersion", default)] __api_version: ApiVersionOf<EcsBinding>,
///     #[serde(rename = "kind", default)] __kind: KindOf<EcsBinding>,
///     metadata: ObjectMeta,
///     spec: EcsBindingSpec,
/// }
///
/// impl<'de> ::kubesmith_runtime::serde::Deserialize<'de> for EcsBinding { ... }
/// ```
pub(crate) fn expand(input: &DeriveInput, fields: &Fields) -> TokenStream {
    let container = SerdeContainer::read(&input.attrs);
    let write = write(input, fields, &container);
    let read = read(input, fields, &container);
    quote! {
        #write
        #read
    }
}

fn serde_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("serde"))
}

fn write(input: &DeriveInput, fields: &Fields, container: &SerdeContainer) -> TokenStream {
    let ident = &input.ident;
    let name = ident.to_string();
    let attributes = serde_attributes(&input.attrs);
    let rename = container.key("rename").is_none().then(|| quote!(#[serde(rename = #name)]));
    let fields = fields.iter().map(|Field { ident, ty, attrs, .. }| {
        let attributes = serde_attributes(attrs);
        quote!(#(#attributes)* #ident: #ty)
    });
    quote! {
        #[derive(::kubesmith_runtime::serde::Serialize)]
        #[serde(crate = "::kubesmith_runtime::serde", remote = #name)]
        #rename
        #(#attributes)*
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        struct __KubesmithWrite {
            #(#fields,)*
        }

        #[automatically_derived]
        impl ::kubesmith_runtime::serde::Serialize for #ident {
            fn serialize<__S>(&self, serializer: __S) -> ::core::result::Result<__S::Ok, __S::Error>
            where
                __S: ::kubesmith_runtime::serde::Serializer,
            {
                __KubesmithWrite::serialize(
                    self,
                    ::kubesmith_runtime::api::__private::TypeMetaSerializer::new::<Self>(serializer),
                )
            }
        }
    }
}

fn read(input: &DeriveInput, fields: &Fields, container: &SerdeContainer) -> TokenStream {
    let ident = &input.ident;
    let attributes = serde_attributes(&input.attrs).map(without_default);
    let expecting = format!("an object of kind {ident}");
    let expecting = container.key("expecting").is_none().then(|| quote!(#[serde(expecting = #expecting)]));
    let (defaults, default_keys) = container_default(ident, fields, container);
    let names: Vec<&Option<Ident>> = fields.iter().map(|field| &field.ident).collect();
    let fields = fields.iter().zip(&default_keys).map(|(Field { ident, ty, attrs, .. }, default)| {
        let attributes = serde_attributes(attrs);
        quote!(#default #(#attributes)* #ident: #ty)
    });
    quote! {
        #defaults

        #[derive(::kubesmith_runtime::serde::Deserialize)]
        #[serde(crate = "::kubesmith_runtime::serde")]
        #expecting
        #(#attributes)*
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        struct __KubesmithRead {
            #[serde(rename = "apiVersion", default)]
            __api_version: ::kubesmith_runtime::api::__private::ApiVersionOf<#ident>,
            #[serde(rename = "kind", default)]
            __kind: ::kubesmith_runtime::api::__private::KindOf<#ident>,
            #(#fields,)*
        }

        #[automatically_derived]
        impl<'de> ::kubesmith_runtime::serde::Deserialize<'de> for #ident {
            fn deserialize<__D>(deserializer: __D) -> ::core::result::Result<Self, __D::Error>
            where
                __D: ::kubesmith_runtime::serde::Deserializer<'de>,
            {
                let read =
                    <__KubesmithRead as ::kubesmith_runtime::serde::Deserialize<'de>>::deserialize(deserializer)?;
                ::core::result::Result::Ok(Self { #(#names: read.#names,)* })
            }
        }
    }
}

/// A container's default takes missing fields from a whole value of the type. The shadow struct has
/// no such value, so each field without a default of its own gets a function that takes the field
/// from it.
fn container_default(
    ident: &Ident,
    fields: &Fields,
    container: &SerdeContainer,
) -> (TokenStream, Vec<Option<TokenStream>>) {
    let whole = match &container.default {
        None => return (TokenStream::new(), vec![None; fields.len()]),
        Some(SerdeDefault::Trait) => quote!(<#ident as ::core::default::Default>::default()),
        Some(SerdeDefault::Path(path)) => match syn::parse_str::<syn::ExprPath>(path) {
            Ok(path) => quote!(#path()),
            // The derive on the shadow struct for serialization reports it.
            Err(_) => return (TokenStream::new(), vec![None; fields.len()]),
        },
    };
    let mut functions = Vec::new();
    let mut keys = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let serde = SerdeField::read(&field.attrs);
        if serde.default.is_some() || serde.flatten {
            keys.push(None);
            continue;
        }
        let function = quote::format_ident!("field_{index}");
        let path = format!("__KubesmithDefault::{function}");
        let (name, ty) = (&field.ident, &field.ty);
        functions.push(quote!(fn #function() -> #ty { let whole: #ident = #whole; whole.#name }));
        keys.push(Some(quote!(#[serde(default = #path)])));
    }
    let functions = quote! {
        struct __KubesmithDefault;

        impl __KubesmithDefault {
            #(#functions)*
        }
    };
    (functions, keys)
}

/// A container's serde attribute without its `default`.
fn without_default(attribute: &Attribute) -> TokenStream {
    let Meta::List(list) = &attribute.meta else { return quote!(#attribute) };
    let mut kept = TokenStream::new();
    let mut part = TokenStream::new();
    for token in list.tokens.clone().into_iter().map(Some).chain([None]) {
        match token {
            Some(token) if !matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',') => {
                part.extend([token]);
            }
            _ => {
                let part = std::mem::take(&mut part);
                let first = part.clone().into_iter().next();
                if !part.is_empty() && !matches!(first, Some(TokenTree::Ident(key)) if key == "default") {
                    kept.extend(quote!(#part,));
                }
            }
        }
    }
    quote!(#[serde(#kept)])
}
