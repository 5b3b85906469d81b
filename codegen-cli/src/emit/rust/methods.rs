//! Emits the methods of a kind's client with names of their own.

use proc_macro2::TokenStream;
use quote::quote;

use super::plan::{KindPlan, Plan, object_path};
use super::skeleton::{Docs, ident, path};
use super::{docs, names};
use crate::ir::{Method, Resource, Verb};

/// A method in its three forms.
pub(super) struct MethodTokens {
    /// As a method of the client.
    pub(super) own: TokenStream,
    /// As a method of the client's trait.
    pub(super) declared: TokenStream,
    /// The trait's method for the client.
    pub(super) delegated: TokenStream,
}

/// The methods of a kind in their order.
pub(super) fn tokens(plan: &Plan<'_>, kind: &KindPlan<'_>) -> Vec<MethodTokens> {
    kind.methods().iter().map(|method| one(plan, kind.resource, method)).collect()
}

fn one(plan: &Plan<'_>, resource: &Resource, method: &Method) -> MethodTokens {
    let docs = Docs(documentation(resource, method));
    let name = ident(&names::identifier(&method.name));
    let (request, params) = match method.verb {
        Verb::Get => ("get", None),
        Verb::List => ("list", Some(quote!(ListParams))),
        Verb::Patch => ("patch", Some(quote!(PatchParams))),
        Verb::Apply => ("apply", Some(quote!(PatchParams))),
        Verb::Update => ("update", Some(quote!(PostParams))),
        _ => ("create", Some(quote!(PostParams))),
    };
    let request = ident(request);
    let is_patch = method.verb == Verb::Patch;
    let is_named = method.subresource.is_some() || !matches!(method.verb, Verb::Create | Verb::List);
    let (mut declared, mut given) = (TokenStream::new(), TokenStream::new());
    if is_named {
        declared.extend(quote!(name: &str,));
        given.extend(quote!(name,));
    }
    if let Some(input) = input(plan, method) {
        declared.extend(quote!(input: &#input,));
        given.extend(quote!(input,));
    }
    if let Some(params) = params {
        declared.extend(quote!(params: &::kubesmith_runtime::kube::api::#params,));
        given.extend(quote!(params,));
    }
    if is_patch {
        declared.extend(quote!(patch: &::kubesmith_runtime::kube::api::Patch<P>,));
        given.extend(quote!(patch,));
    }
    let parameter = |bounds: TokenStream| is_patch.then(|| quote!(<P: #bounds>));
    let (serialize, debug) = (quote!(::kubesmith_runtime::serde::Serialize), quote!(::core::fmt::Debug));
    let own = parameter(quote!(#serialize + #debug));
    let of_trait = parameter(quote!(#serialize + #debug + Sync));
    let answer = answer(plan, method);
    let target = match &method.subresource {
        Some(subresource) => quote!(subresource(#subresource)),
        None => quote!(resource()),
    };
    let signature = quote!(fn #name #of_trait(&self, #declared) -> impl client::ResponseFuture<#answer>);
    MethodTokens {
        own: quote! {
            #docs
            pub async fn #name #own(&self, #declared) -> client::Result<#answer> {
                self.inner.typed().#target.#request(#given).await
            }
        },
        declared: quote!(#docs #signature;),
        delegated: quote!(#signature { self.#name(#given) }),
    }
}

/// The type of the method's request body; `None` for no body, or a patch of any type.
fn input(plan: &Plan<'_>, method: &Method) -> Option<TokenStream> {
    let sent = method.input.as_deref()?;
    let configuration = plan.apply.path_of_input(plan.ir, sent).filter(|_| method.verb == Verb::Apply);
    Some(path(&configuration.unwrap_or_else(|| object_path(sent, &plan.options.package))))
}

fn answer(plan: &Plan<'_>, method: &Method) -> TokenStream {
    let result = path(&object_path(&method.result, &plan.options.package));
    match method.verb {
        Verb::List => quote!(::kubesmith_runtime::kube::api::ObjectList<#result>),
        _ => result,
    }
}

/// One line about the method.
fn documentation(resource: &Resource, method: &Method) -> String {
    let kind = docs::plain(&resource.kind);
    let named = format!("the `{kind}` of this name");
    let of_name = match &method.subresource {
        Some(subresource) => format!("the subresource `{}` of {named}", docs::plain(subresource)),
        None => named,
    };
    match (method.verb, &method.subresource) {
        (Verb::Get, _) => format!("Reads {of_name}."),
        (Verb::List, None) => format!("Lists `{kind}` objects."),
        (Verb::List, Some(_)) => format!("Lists {of_name}."),
        (Verb::Update, _) => format!("Replaces {of_name}."),
        (Verb::Patch, _) => format!("Changes parts of {of_name}."),
        (Verb::Apply, _) => {
            format!("Changes {of_name} by server-side apply; the parameters name the field manager.")
        }
        (_, None) => format!("Creates a `{kind}` object."),
        (_, Some(_)) => format!("Sends an object to {of_name}."),
    }
}
