//! Emits the typed clients: a file for each version of a group.

use heck::ToUpperCamelCase as _;
use proc_macro2::TokenStream;
use quote::quote;

use super::methods::{self, MethodTokens};
use super::plan::{Imports, KindPlan, Part, Plan};
use super::skeleton::{Docs, Skeleton, ident, path};
use super::{File, modules};
use crate::ir::Verb;

pub(super) fn files<'p>(plan: &'p Plan<'p>) -> Vec<File<'p>> {
    plan.clients().into_iter().map(|part| file(plan, part)).collect()
}

fn file<'p>(plan: &'p Plan<'p>, part: Part<'p>) -> File<'p> {
    let names = part
        .kinds
        .iter()
        .flat_map(|kind| [&kind.interface, &kind.getter.0, &kind.plural, &kind.client].map(String::clone));
    let version = part.version;
    let own = [format!("{}Client", version.type_name), format!("{}Interface", version.type_name)];
    let mut imports = Imports::new(own.into_iter().chain(names));
    for kind in part.kinds.iter().filter(|kind| !verbs(kind).is_empty()) {
        imports.add(&kind.object);
        imports.add(configuration(kind));
    }
    let mut file = File::new(plan, part.file("clientset/typed"));
    let imports = std::sync::Arc::new(imports);
    let kinds = part.kinds.clone();
    let of_version = std::sync::Arc::clone(&imports);
    file.block(move || version_items(&part, &of_version));
    for kind in kinds {
        let imports = std::sync::Arc::clone(&imports);
        file.block(move || kind_items(plan, version.type_name.as_str(), kind, &imports));
    }
    file
}

/// The traits of the verbs that the kind's client has.
fn verbs(kind: &KindPlan<'_>) -> Vec<String> {
    let has: Vec<_> = Verb::ALL.into_iter().filter(|verb| kind.has(*verb)).collect();
    match has.len() == Verb::ALL.len() {
        true => vec!["All".to_owned()],
        false => has.into_iter().map(|verb| verb.as_str().to_upper_camel_case()).collect(),
    }
}

/// Whether the runtime's client has everything that the kind's client needs.
fn is_complete(kind: &&KindPlan<'_>) -> bool {
    verbs(kind) == ["All"] && kind.methods().is_empty() && !kind.extended.client
}

/// The type of apply's argument: the kind's apply configuration, or else the object.
fn configuration<'p>(kind: &'p KindPlan<'_>) -> &'p str {
    let applies = kind.has(Verb::Apply) || kind.has(Verb::ApplyStatus);
    kind.configuration.as_deref().filter(|_| applies).unwrap_or(&kind.object)
}

/// Imports, handwritten modules, and the client of the version.
fn version_items(part: &Part<'_>, imports: &Imports) -> TokenStream {
    let version = part.version;
    let imported = imports.paths().map(path);
    let has_verbs = part.kinds.iter().any(|kind| !verbs(kind).is_empty());
    let used = match (has_verbs, part.kinds.iter().all(is_complete)) {
        (_, true) => quote!(verbs),
        (true, false) => quote!(verbs::{self, delegate}),
        (false, false) => quote!(verbs::delegate),
    };
    let extended = part.kinds.iter().filter(|kind| kind.extended.client);
    let expansions = extended.map(|kind| modules::expansion(&kind.module));
    let getters = part.kinds.iter().map(|kind| ident(&kind.getter.0));
    let accessors = part.kinds.iter().map(|kind| {
        let docs = Docs(format!("Client of `{}` objects.", kind.kind));
        let (accessor, client) = (ident(&kind.accessor), ident(&kind.plural));
        quote! {
            #docs
            #[must_use]
            pub fn #accessor(&self) -> #client { #client::new(self.rest.clone()) }
        }
    });
    let (interface, client) =
        (ident(&format!("{}Interface", version.type_name)), ident(&format!("{}Client", version.type_name)));
    let docs = Docs(format!(
        "Gives the clients of every kind of `{}`: for code that takes any client, and for clients of your own.",
        version.api_version
    ));
    Skeleton::new("clients")
        .name("ApiVersion", &version.api_version)
        .name("GroupVersion", &version.type_name)
        .name("group", version.group)
        .name("version", version.name)
        .items(
            "imports",
            quote! {
                use ::kubesmith_runtime::client::{self, #used};
                #(use #imported;)*
                #(#expansions)*
            },
        )
        .items(
            "interface",
            quote! {
                #docs
                pub trait #interface: #(#getters)+* {}
                impl #interface for #client {}
            },
        )
        .items("accessors", quote!(#(#accessors)*))
        .fill()
}

/// All items of a kind.
fn kind_items(plan: &Plan<'_>, group_version: &str, kind: &KindPlan<'_>, imports: &Imports) -> TokenStream {
    let of = match kind.is_namespaced() {
        true => format!("Client of the `{}` objects of one namespace.", kind.kind),
        false => kind.docs(format!("Client of the `{}` objects of the cluster.", kind.kind)),
    };
    let requests =
        "Each request fails with [`Error`](client::Error): the API server's answer, or why there is none.";
    let scope = if kind.is_namespaced() { "client_namespaced" } else { "client_cluster" };
    let methods = methods::tokens(plan, kind);
    let skeleton = |name| {
        Skeleton::new(name)
            .name("Kind", &kind.kind)
            .name("Docs", format!("{of}\n\n{requests}"))
            .name(
                "AllDocs",
                kind.docs(format!(
                    "Client of the `{}` objects of all namespaces; its method `namespace` chooses one.",
                    kind.kind
                )),
            )
            .name("Plural", &kind.plural)
            .name("Client", &kind.client)
            .name("Getter", &kind.getter.0)
            .name("Given", &kind.getter.1)
            .name("Interface", &kind.interface)
            .name("accessor", &kind.accessor)
            .name("Object", imports.name(&kind.object))
            .name("Configuration", imports.name(configuration(kind)))
            .name("GroupVersion", group_version)
    };
    let of_scope = skeleton(scope).fill();
    let methods = own(kind, &methods, imports);
    let requests = match is_complete(&kind) {
        true => skeleton("client_complete").items("methods", methods),
        false => skeleton("client").items("verbs", delegated(kind)).items("methods", methods),
    };
    let requests = requests.fill();
    quote!(#of_scope #requests)
}

/// Gives the client its verbs and, for a cluster-scoped kind, its constructor.
fn delegated(kind: &KindPlan<'_>) -> TokenStream {
    let client = ident(&kind.client);
    let verbs = verbs(kind);
    let verbs = verbs.iter().map(|verb| ident(verb));
    let constructor = (!kind.is_namespaced()).then(|| {
        quote! {
            impl #client {
                /// Makes the client from the REST client of its group-version.
                #[must_use]
                pub fn new(rest: client::RestClient) -> Self { client::KindClient::cluster(rest).into() }
            }
        }
    });
    quote!(#constructor #(impl delegate::#verbs for #client {})*)
}

/// The client's trait, and its methods with names of their own.
fn own(kind: &KindPlan<'_>, methods: &[MethodTokens], imports: &Imports) -> TokenStream {
    let (interface, client, object) =
        (ident(&kind.interface), ident(&kind.client), path(imports.name(&kind.object)));
    let configuration = path(imports.name(configuration(kind)));
    let bounds = verbs(kind).into_iter().map(|verb| {
        let name = ident(&verb);
        match verb.as_str() {
            "All" | "Apply" | "ApplyStatus" => quote!(verbs::#name<#object, #configuration>),
            _ => quote!(verbs::#name<#object>),
        }
    });
    let any = verbs(kind).is_empty().then(|| quote!(Send + Sync + 'static));
    let docs = Docs(format!("The verbs of a client of `{}` objects.", kind.kind));
    let declared = methods.iter().map(|method| &method.declared);
    let delegated = methods.iter().map(|method| &method.delegated);
    let own = methods.iter().map(|method| &method.own);
    let inherent = (!methods.is_empty()).then(|| quote!(impl #client { #(#own)* }));
    quote! {
        #inherent
        #docs
        pub trait #interface: #any #(#bounds)+* { #(#declared)* }
        impl #interface for #client { #(#delegated)* }
    }
}
