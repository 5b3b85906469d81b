//! Checks the verbs of clients, and the parts that need them.

use kubesmith_core::diag::Code;

use super::{Input, resources};
use crate::diag::Diagnostic;
use crate::ir::{CrdStyle, Ir, Method, Resource, Verb};
use crate::known::kinds;
use crate::source::SourceMap;

/// Checks that applied types are kinds, as a request to apply has `apiVersion` and kind.
pub(super) fn kinds_are_applied(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let is_kind = |path: &str| {
        resources(input.ir).any(|resource| resource.code.type_path == path) || kinds::sent(path).is_some()
    };
    for method in resources(input.ir).flat_map(methods).filter(|method| method.verb == Verb::Apply) {
        let Some(path) = method.input.as_deref().filter(|path| !is_kind(path)) else { continue };
        let message = format!("`{}` would apply `{path}`, which is not a kind", method.name);
        out.push(
            Diagnostic::error(Code::METHOD, input.loc(&method.span), message)
                .note("server-side apply sends an object with apiVersion, kind and metadata")
                .help("use a kind of the inputs or of k8s_openapi as `input`, or the verb update or patch"),
        );
    }
}

fn methods(resource: &Resource) -> &[Method] {
    resource.client.as_ref().map_or(&[], |tags| &tags.methods)
}

/// The verb that both parts need.
const LIST: (Verb, &str) = (Verb::List, "list");

/// Warns of kinds without an informer or a lister, because their clients lack a required verb.
pub fn without_verbs(ir: &Ir, informers: bool, listers: bool, sources: &SourceMap) -> Vec<Diagnostic> {
    let parts = [
        (informers, "informer", "an informer lists and watches", [LIST, (Verb::Watch, "watch")]),
        (listers, "lister", "a lister lists and gets", [LIST, (Verb::Get, "get")]),
    ];
    let mut out = Vec::new();
    for resource in resources(ir) {
        let Some(tags) = &resource.client else { continue };
        // A client without verbs is intended.
        let Some(chosen) = tags.chosen.as_ref().filter(|_| !tags.verbs.is_empty()) else { continue };
        for (wanted, part, note, needed) in &parts {
            let missing: Vec<&str> =
                needed.iter().filter(|(verb, _)| !tags.verbs.contains(verb)).map(|(_, name)| *name).collect();
            if !wanted || missing.is_empty() {
                continue;
            }
            let missing = missing.join(" or ");
            let message =
                format!("no {part} of {} is generated: its client does not {missing}", resource.kind);
            out.push(
                Diagnostic::warning(Code::MISSING_VERBS, sources.loc(chosen), message)
                    .note(*note)
                    .help("let the client have these verbs, or set the level of KS0713 to `allow`"),
            );
        }
    }
    out
}

/// Warns of kube-rs's kinds without a client, if clients are generated.
pub(crate) fn without_client(ir: &Ir, sources: &SourceMap) -> Vec<Diagnostic> {
    let kinds = resources(ir).filter(|kind| kind.client.is_none() && kind.crd.style == CrdStyle::Kube);
    let warning = |kind: &Resource| {
        let message =
            format!("no client of {} is generated: the type is not public in any library", kind.kind);
        Diagnostic::warning(Code::NO_CLIENT, sources.loc(&kind.span), message).help(
            "move the types to a library (src/lib.rs), make the type and the modules around it `pub`, or generate the CRDs \
             alone: `--only crd`",
        )
    };
    kinds.map(warning).collect()
}
