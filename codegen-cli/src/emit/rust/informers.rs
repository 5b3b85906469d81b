//! Emits informers: the factory, and a file for each version of a group.

use proc_macro2::TokenStream;
use quote::quote;

use super::plan::{GroupPlan, Imports, Part, Plan};
use super::skeleton::{Docs, Skeleton, ident, path};
use super::{File, by_group};

pub(super) fn files<'p>(plan: &'p Plan<'p>) -> Vec<File<'p>> {
    let parts = plan.informers();
    if parts.is_empty() {
        return Vec::new();
    }
    let mut factory = File::new(plan, "informers/mod.rs");
    factory.block(move || factory_items(&plan.informers()));
    let mut files = vec![factory];
    files.extend(parts.into_iter().map(|part| {
        let mut file = File::new(plan, part.file("informers"));
        file.block(move || version_items(plan, &part));
        file
    }));
    files
}

fn factory_items(parts: &[Part<'_>]) -> TokenStream {
    let groups = by_group(parts);
    let accessors = groups.iter().map(|(group, _)| {
        let docs = Docs(format!("Informers of the group `{}`.", group.title));
        let (accessor, module, ty) =
            (ident(&group.informers_accessor), ident(&group.module), ident(&group.informers));
        quote! {
            #docs
            #[must_use]
            pub fn #accessor(&self) -> #module::#ty { #module::#ty(self.inner.clone()) }
        }
    });
    let groups = groups.iter().map(|(group, parts)| group_module(group, parts));
    let (variants, synced, found) = generic(parts);
    Skeleton::new("informers")
        .items("groups", quote!(#(#accessors)*))
        .items("modules", quote!(#(#groups)*))
        .items(
            "generic",
            quote! {
                /// An informer of any kind of this package.
                #[derive(Clone, Debug)]
                #[non_exhaustive]
                #[allow(clippy::enum_variant_names, reason = "the names are those of the kinds")]
                pub enum GenericInformer { #variants }

                impl GenericInformer {
                    /// Whether the informer's cache is complete.
                    #[must_use]
                    #[inline]
                    pub fn has_synced(&self) -> bool { match self { #synced } }
                }
            },
        )
        .items(
            "lookup",
            quote! {
                /// The informer of a resource, for code that learns its name at run time.
                ///
                /// # Errors
                /// The resource is not in this package.
                #[inline]
                pub fn for_resource(
                    &self,
                    resource: &::kubesmith_runtime::kube::core::GroupVersionResource,
                ) -> Result<GenericInformer, informer::UnknownResource> {
                    let informer = match (&*resource.group, &*resource.version, &*resource.resource) {
                        #found
                        _ => return Err(informer::UnknownResource::new(resource)),
                    };
                    Ok(informer)
                }
            },
        )
        .fill()
}

/// The variants of the generic informer, and the arms of the matches over it.
fn generic(parts: &[Part<'_>]) -> (TokenStream, TokenStream, TokenStream) {
    let (mut variants, mut synced, mut found) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    for part in parts {
        let (group, version) = (ident(&part.group.module), ident(&part.version.module));
        let accessors = [&part.group.informers_accessor, &part.version.accessor].map(|name| ident(name));
        for kind in &part.kinds {
            let docs = Docs(format!(
                "Informer of `{}` in `{}`.",
                super::docs::plain(&kind.resource.plural),
                part.version.api_version
            ));
            let variant = ident(&format!("{}{}", part.version.type_name, kind.plural));
            let (informer, accessor) = (ident(&kind.informer), ident(&kind.accessor));
            let name = [part.version.group, part.version.name, &kind.resource.plural];
            variants.extend(quote!(#docs #variant(#group::#version::#informer),));
            synced.extend(quote!(Self::#variant(it) => it.informer().has_synced(),));
            found.extend(quote! {
                (#(#name),*) => GenericInformer::#variant(self #(.#accessors())*.#accessor()),
            });
        }
    }
    (variants, synced, found)
}

fn group_module(group: &GroupPlan<'_>, parts: &[&Part<'_>]) -> TokenStream {
    let docs = Docs(format!("Informers of the group `{}`.", group.title));
    let of_type = Docs(format!("Informers of the group `{}`: one accessor per version.", group.title));
    let (module, ty) = (ident(&group.module), ident(&group.informers));
    let modules = parts.iter().map(|part| ident(&part.version.module));
    let accessors = parts.iter().map(|part| {
        let docs = Docs(format!("Informers of `{}`.", part.version.api_version));
        let (accessor, module, ty) =
            (ident(&part.version.accessor), ident(&part.version.module), ident(&part.version.informers));
        quote! {
            #docs
            #[must_use]
            pub fn #accessor(&self) -> #module::#ty { #module::#ty(self.0.clone()) }
        }
    });
    quote! {
        #docs
        pub mod #module {
            #(pub mod #modules;)*

            #of_type
            #[derive(Clone, Debug)]
            pub struct #ty(pub(super) super::informer::SharedInformerFactory);

            impl #ty { #(#accessors)* }
        }
    }
}

fn version_items(plan: &Plan<'_>, part: &Part<'_>) -> TokenStream {
    let own = part.kinds.iter().map(|kind| kind.informer.clone());
    let mut imports = Imports::new(own.chain([part.version.informers.clone()]));
    let listers = format!("{}::listers::{}", plan.root, part.path());
    let lister = |name: &str| format!("{listers}::{name}");
    for kind in &part.kinds {
        imports.add(&kind.object);
        if kind.parts.lister {
            imports.add(&lister(&kind.lister));
        }
    }
    let accessors = part.kinds.iter().map(|kind| {
        let docs = Docs(format!("Informer and lister of `{}` objects.", kind.kind));
        let (accessor, ty) = (ident(&kind.accessor), ident(&kind.informer));
        quote! {
            #docs
            #[must_use]
            pub fn #accessor(&self) -> #ty { #ty::new(&self.0) }
        }
    });
    let kinds = part.kinds.iter().map(|kind| {
        let docs = Docs(kind.docs(format!("The factory's shared informer of `{}` objects.", kind.kind)));
        let (ty, object) = (ident(&kind.informer), path(imports.name(&kind.object)));
        let lister = kind.parts.lister.then(|| {
            let lister = lister(&kind.lister);
            let name = path(imports.name(&lister));
            quote!(, #name)
        });
        quote!(#docs pub type #ty = informer::KindInformer<#object #lister>;)
    });
    let imported = imports.paths().map(path);
    Skeleton::new("informers_version")
        .name("ApiVersion", &part.version.api_version)
        .name("Informers", &part.version.informers)
        .items("imports", quote!(use ::kubesmith_runtime::informer; #(use #imported;)*))
        .items("accessors", quote!(#(#accessors)*))
        .items("kinds", quote!(#(#kinds)*))
        .fill()
}
