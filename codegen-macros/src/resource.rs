//! `#[derive(Resource)]`

use kubesmith_core::diag::{Code, Diagnostics, Severity};
use kubesmith_core::grammar::Spanned;
use kubesmith_core::model::ResourceInput;
use kubesmith_core::names::{PluralName, Scope};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Ident};

use crate::constants;
use crate::module::{self, Around};
use crate::report::compile_errors;
use crate::resource_serde;

/// Checks the type and expands to its trait impls, or to the errors.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut diagnostics = Diagnostics::new();
    let mut resource = ResourceInput::from_derive(&input, &mut diagnostics);
    let mut around = Around::default();
    if let (Some(resource), Data::Struct(data)) = (&mut resource, &input.data) {
        let attrs = &resource.attrs;
        if attrs.group.is_none() || attrs.version.is_none() {
            around = module::around(&input, &data.fields, &mut diagnostics);
        }
        resource.complete(&around.attrs, &mut diagnostics);
    }
    // After an error in an attribute only, the impls are emitted nevertheless, so that the error does not
    // cause others at uses of the type.
    let wrong_shape = diagnostics.iter().any(|d| d.severity == Severity::Error && is_about_shape(d.code));
    let errors = compile_errors(diagnostics);
    let (Some(resource), Data::Struct(data), false) = (resource, &input.data, wrong_shape) else {
        return errors;
    };
    let (Some(group), Some(version)) = (&resource.attrs.group, &resource.attrs.version) else {
        return errors;
    };
    let (group, version) = (group.value.as_str(), version.value.as_str());
    let ident = &input.ident;
    let serde = resource_serde::expand(&input, &data.fields);
    let names = Names { group, version, api_version: &format!("{group}/{version}") };
    let kube = kube_resource(ident, &resource, &names);
    let info = resource_info(ident, &resource, &names);
    let object = resource.deepcopy.map(|_| object(ident));
    let constants = constants::used(&resource.model, &input);
    let files = around.files.iter().filter_map(|file| file.to_str());
    quote! {
        #errors
        const _: () = {
            #serde
            #kube
            #info
            #object
            #constants
            // The compiler expands the macro again when one of these changes.
            #(const _: &[u8] = ::core::include_bytes!(#files);)*
        };
    }
}

/// The group and version of the type.
struct Names<'a> {
    group: &'a str,
    version: &'a str,
    api_version: &'a str,
}

/// Whether an error is about the type and its fields (01xx), so that the impls would not compile.
fn is_about_shape(code: Code) -> bool {
    code.number() / 100 == 1
}

/// Expands to
///
/// ```text
/// impl ::kubesmith_runtime::api::Resource for EcsBinding {
///     type DynamicType = ();
///     type Scope = ::kubesmith_runtime::k8s_openapi::ClusterResourceScope;
///     fn kind(_: &()) -> Cow<'_, str> { Cow::Borrowed("EcsBinding") }
///     ...
///     fn meta(&self) -> &ObjectMeta { &self.metadata }
///     fn meta_mut(&mut self) -> &mut ObjectMeta { &mut self.metadata }
/// }
/// ```
fn kube_resource(ident: &Ident, resource: &ResourceInput, names: &Names<'_>) -> TokenStream {
    let attrs = &resource.attrs;
    let scope = match attrs.scope.value {
        Scope::Cluster => quote!(ClusterResourceScope),
        Scope::Namespaced => quote!(NamespaceResourceScope),
    };
    let texts = [
        ("kind", attrs.kind.value.as_str()),
        ("group", names.group),
        ("version", names.version),
        ("api_version", names.api_version),
        ("plural", attrs.plural.value.as_str()),
    ];
    let texts = texts.iter().map(|(method, text)| {
        let method = quote::format_ident!("{method}");
        quote! {
            fn #method(_: &()) -> ::std::borrow::Cow<'_, ::core::primitive::str> {
                ::std::borrow::Cow::Borrowed(#text)
            }
        }
    });
    // The span of the field's type is used, so that a wrong type is reported there.
    let metadata =
        resource.model.named_fields().iter().find(|f| f.ident.as_ref().is_some_and(|i| i == "metadata"));
    let span = metadata.map_or_else(|| ident.span(), |field| field.ty.span());
    let meta = quote_spanned!(span=> &self.metadata);
    let meta_mut = quote_spanned!(span=> &mut self.metadata);
    quote! {
        #[automatically_derived]
        impl ::kubesmith_runtime::api::Resource for #ident {
            type DynamicType = ();
            type Scope = ::kubesmith_runtime::k8s_openapi::#scope;
            #(#texts)*
            fn meta(&self) -> &::kubesmith_runtime::api::ObjectMeta {
                #meta
            }
            fn meta_mut(&mut self) -> &mut ::kubesmith_runtime::api::ObjectMeta {
                #meta_mut
            }
        }
    }
}

/// Expands to
///
/// ```text
/// impl ::kubesmith_runtime::api::ResourceInfo for EcsBinding {
///     const GROUP: &'static str = "hopegi.com";
///     ...
/// }
/// ```
fn resource_info(ident: &Ident, resource: &ResourceInput, names: &Names<'_>) -> TokenStream {
    let attrs = &resource.attrs;
    let texts = [
        ("GROUP", names.group),
        ("VERSION", names.version),
        ("API_VERSION", names.api_version),
        ("KIND", attrs.kind.value.as_str()),
        ("LIST_KIND", attrs.list_kind.value.as_str()),
        ("PLURAL", attrs.plural.value.as_str()),
        ("SINGULAR", attrs.singular.value.as_str()),
    ];
    let texts = texts.iter().map(|(name, text)| {
        let name = quote::format_ident!("{name}");
        quote!(const #name: &'static ::core::primitive::str = #text;)
    });
    let list = |names: &[Spanned<PluralName>]| {
        let names = names.iter().map(|name| name.value.as_str());
        quote!(&[#(#names),*])
    };
    let (short_names, categories) = (list(&attrs.short_names), list(&attrs.categories));
    let scope = match attrs.scope.value {
        Scope::Cluster => quote!(Cluster),
        Scope::Namespaced => quote!(Namespaced),
    };
    let has_status = attrs.status.is_some();
    quote! {
        #[automatically_derived]
        impl ::kubesmith_runtime::api::ResourceInfo for #ident {
            #(#texts)*
            const SHORT_NAMES: &'static [&'static ::core::primitive::str] = #short_names;
            const CATEGORIES: &'static [&'static ::core::primitive::str] = #categories;
            const SCOPE: ::kubesmith_runtime::api::Scope = ::kubesmith_runtime::api::Scope::#scope;
            const HAS_STATUS: ::core::primitive::bool = #has_status;
        }
    }
}

/// Makes the compiler check that the type is an object, as every resource with `Clone` is. An error is shown
/// at the type's name.
fn object(ident: &Ident) -> TokenStream {
    quote_spanned! { ident.span() => ::kubesmith_runtime::api::__private::is_object::<#ident>(); }
}
