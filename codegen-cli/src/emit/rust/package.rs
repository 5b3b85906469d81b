//! Emits the root of the package and its clientset.

use proc_macro2::TokenStream;
use quote::quote;

use super::plan::{Part, Plan};
use super::skeleton::{Docs, Skeleton, path};
use super::{File, Package, by_group, conversions, modules, root_docs};

pub(super) fn files<'p>(plan: &'p Plan<'p>) -> Vec<File<'p>> {
    let root = if is_module(plan) { "mod.rs" } else { "lib.rs" };
    let mut file = File::new(plan, root);
    file.block(move || root_items(plan));
    let mut files = vec![file];
    if !plan.clients().is_empty() {
        let mut file = File::new(plan, "clientset/mod.rs");
        file.block(move || clientset(plan, &plan.clients()));
        files.push(file);
        if plan.options.parts.has_fake() {
            let mut file = File::new(plan, "clientset/fake.rs");
            file.block(|| Skeleton::new("fake").fill());
            files.push(file);
        }
    }
    files
}

fn is_module(plan: &Plan<'_>) -> bool {
    matches!(plan.options.package, Package::Module { .. })
}

fn tree(what: &str, parts: &[Part<'_>]) -> TokenStream {
    let groups = by_group(parts);
    let groups = groups.iter().map(|(group, parts)| {
        let versions = parts.iter().map(|part| part.version.module.as_str()).collect();
        (group.module.as_str(), group.title.as_str(), versions)
    });
    modules::tree(what, groups)
}

fn root_items(plan: &Plan<'_>) -> TokenStream {
    let (options, is_module) = (plan.options, is_module(plan));
    let allow = is_module.then(
        || quote!(#![allow(dead_code, unreachable_pub, reason = "a program need not use everything here")]),
    );
    let has_clients = !plan.clients().is_empty();
    let has_informers = !plan.informers().is_empty();
    let listers = plan.listers();
    let mut items = TokenStream::new();
    items.extend(plan.apply.modules());
    if has_clients {
        items.extend(quote!(
            pub mod clientset;
        ));
    }
    if options.parts.client && options.conversions && conversions::any(plan.ir) {
        items.extend(quote!(
            pub mod conversions;
        ));
    }
    if options.parts.client && !options.defaults.is_empty() {
        items.extend(quote!(
            pub mod defaults;
        ));
    }
    if has_informers {
        items.extend(quote!(
            pub mod informers;
        ));
    }
    if !listers.is_empty() {
        let groups = tree("Listers", &listers);
        items.extend(quote! {
            /// Listers, by group and version: reads from the informers' caches.
            pub mod listers { #groups }
        });
    }
    if !plan.validations().is_empty() {
        let gate = (!is_module).then(|| quote!(#[cfg(feature = "validation")]));
        items.extend(quote!(#gate pub mod validations;));
    }
    if has_clients {
        items.extend(quote!(
            pub use self::clientset::Clientset;
        ));
    }
    if has_informers {
        items.extend(quote!(
            pub use self::informers::SharedInformerFactory;
        ));
    }
    Skeleton::new("root")
        .name("Docs", root_docs::text(plan.ir, options))
        .items("items", quote!(#allow #items))
        .fill()
}

fn clientset(plan: &Plan<'_>, parts: &[Part<'_>]) -> TokenStream {
    let fake = plan.options.parts.has_fake().then(|| match is_module(plan) {
        true => quote!(
            #[cfg(test)]
            pub mod fake;
        ),
        false => quote!(
            #[cfg(feature = "fake")]
            pub mod fake;
        ),
    });
    let by_hand = plan.options.hand_written.contains(crate::load::REGISTER_CUSTOM).then(|| {
        quote! {
            /// Types that were added to the scheme by hand.
            pub mod register_custom;
        }
    });
    let groups = tree("Clients", parts);
    let of_interface = parts.iter().map(|part| {
        let docs = Docs(format!("Clients of `{}`.", part.version.api_version));
        let [name, interface, _, accessor] = clients_of(part);
        let of_accessor = Docs(format!("Clients of `{}`.", part.version.api_version));
        (quote!(#docs type #name: #interface;), quote!(#of_accessor fn #accessor(&self) -> Self::#name;))
    });
    let (types, accessors): (Vec<_>, Vec<_>) = of_interface.unzip();
    let own = parts.iter().map(|part| {
        let docs = Docs(format!("Clients of `{}`.", part.version.api_version));
        let [_, _, client, accessor] = clients_of(part);
        quote! {
            #docs
            #[must_use]
            pub fn #accessor(&self) -> #client { #client::new(self.client.clone()) }
        }
    });
    let scheme = scheme(plan);
    let implemented = implemented(parts);
    Skeleton::new("clientset")
        .items("modules", quote!(#fake #by_hand))
        .items(
            "typed",
            quote! {
                /// Typed clients, by group and version.
                pub mod typed { #groups }
            },
        )
        .items(
            "interface",
            quote! {
                /// The clients of every group-version of this package: for code that takes any clientset, and for clientsets of
                /// your own.
                pub trait Interface: Send + Sync + 'static {
                    #(#types)*

                    /// Returns a client for discovery: the server's version, groups and resources.
                    fn discovery(&self) -> client::Discovery;

                    #(#accessors)*
                }

                /// The clientset, and types that borrow as one.
                impl<T: Borrow<Clientset> + Send + Sync + 'static> Interface for T { #implemented }
            },
        )
        .items("accessors", quote!(#(#own)*))
        .items("scheme", scheme)
        .fill()
}

/// The type of a version's clients in the clientset, the path of their trait, that of the clients, and the accessor.
fn clients_of(part: &Part<'_>) -> [TokenStream; 4] {
    let name = &part.version.type_name;
    let module = format!("typed::{}", part.path());
    [
        path(name),
        path(&format!("{module}::{name}Interface")),
        path(&format!("{module}::{name}Client")),
        path(&part.version.group_version),
    ]
}

/// The members of the trait for types that borrow as the clientset.
fn implemented(parts: &[Part<'_>]) -> TokenStream {
    let (mut types, mut methods) = (TokenStream::new(), TokenStream::new());
    for part in parts {
        let [name, _, client, accessor] = clients_of(part);
        types.extend(quote!(type #name = #client;));
        methods.extend(quote!(fn #accessor(&self) -> Self::#name { Clientset::#accessor(self.borrow()) }));
    }
    quote! {
        #types
        fn discovery(&self) -> client::Discovery { Clientset::discovery(self.borrow()) }
        #methods
    }
}

fn scheme(plan: &Plan<'_>) -> TokenStream {
    let kinds = plan.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.kinds);
    let registered = kinds.map(|kind| {
        let (object, list) = (path(&kind.object), &kind.resource.list_kind);
        match list.is_empty() {
            true => quote!(scheme.register_object::<#object>();),
            false => quote!(scheme.register::<#object>(#list);),
        }
    });
    let root = path(&plan.root);
    let defaults =
        (!plan.options.defaults.is_empty()).then(|| quote!(#root::defaults::register_defaults(scheme);));
    let custom = plan
        .options
        .hand_written
        .contains(crate::load::REGISTER_CUSTOM)
        .then(|| quote!(super::register_custom::add_to_scheme(scheme);));
    quote! {
        /// The scheme: which Rust type stands for which group, version and kind.
        pub mod scheme {
            use ::kubesmith_runtime::scheme::Scheme;

            /// Makes a scheme that knows every kind of this package, lists included.
            #[must_use]
            #[inline]
            pub fn scheme() -> Scheme {
                let mut scheme = Scheme::new();
                add_to_scheme(&mut scheme);
                scheme
            }

            /// Adds every kind of this package to a scheme.
            #[inline]
            pub fn add_to_scheme(scheme: &mut Scheme) {
                #(#registered)*
                #defaults
                #custom
            }
        }
    }
}
