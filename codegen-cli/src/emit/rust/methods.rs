//! What the placeholders of a client's methods stand for.

use std::sync::Arc;

use super::apply::ApplyTypes;
use super::plan::object_path;
use super::skeleton::Bindings;
use super::{RustOptions, docs, names};
use crate::ir::{Ir, Method, Resource, Verb};

/// The methods of a kind's client that have names of their own.
pub(super) fn bindings(
    ir: &Ir,
    resource: &Resource,
    apply: &ApplyTypes,
    options: &RustOptions,
) -> Vec<Arc<Bindings>> {
    let methods = resource.client.as_ref().map_or(&[][..], |tags| &tags.methods);
    methods.iter().map(|method| Arc::new(one(ir, resource, method, apply, options))).collect()
}

/// Whether one of them takes a patch, of any type.
pub(super) fn any_patch(resource: &Resource) -> bool {
    resource.client.iter().flat_map(|tags| &tags.methods).any(|method| method.verb == Verb::Patch)
}

fn one(ir: &Ir, resource: &Resource, method: &Method, apply: &ApplyTypes, options: &RustOptions) -> Bindings {
    let input = method.input.as_deref().map(|path| {
        let configuration = apply.path_of_input(ir, path).filter(|_| method.verb == Verb::Apply);
        configuration.unwrap_or_else(|| object_path(path, &options.package))
    });
    let result = object_path(&method.result, &options.package);
    let answer = match method.verb {
        Verb::List => format!("::kubesmith_runtime::kube::api::ObjectList<{result}>"),
        _ => result,
    };
    let (request, params) = match method.verb {
        Verb::Get => ("get", ""),
        Verb::List => ("list", "ListParams"),
        Verb::Patch => ("patch", "PatchParams"),
        Verb::Apply => ("apply", "PatchParams"),
        Verb::Update => ("update", "PostParams"),
        _ => ("create", "PostParams"),
    };
    let in_subresource = method.subresource.is_some();
    Bindings::default()
        .text("MethodDoc", documentation(resource, method))
        .text("method", names::identifier(&method.name))
        .text("target", if in_subresource { "subresource" } else { "resource" })
        .text("subresource", method.subresource.as_deref().unwrap_or_default())
        .text("request", request)
        .text("Params", params)
        .flag("in_subresource", in_subresource)
        .flag("named", in_subresource || !matches!(method.verb, Verb::Create | Verb::List))
        .flag("patches", method.verb == Verb::Patch)
        .flag("sends", input.is_some())
        .flag("has_params", !params.is_empty())
        .path("Input", input.unwrap_or_default())
        .path("Answer", answer)
}

/// One line on what the method does.
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
