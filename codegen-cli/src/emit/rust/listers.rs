//! Emits listers: a file for each version of a group.

use proc_macro2::TokenStream;
use quote::quote;

use super::plan::{Imports, KindPlan, Part, Plan};
use super::skeleton::{Skeleton, path};
use super::{File, modules};

pub(super) fn files<'p>(plan: &'p Plan<'p>) -> Vec<File<'p>> {
    plan.listers().into_iter().map(|part| file(plan, part)).collect()
}

fn file<'p>(plan: &'p Plan<'p>, part: Part<'p>) -> File<'p> {
    let mut file = File::new(plan, part.file("listers"));
    file.block(move || items(&part));
    file
}

fn items(part: &Part<'_>) -> TokenStream {
    let names = part.kinds.iter().flat_map(|kind| [kind.lister.clone(), kind.namespace_lister.clone()]);
    let mut imports = Imports::new(names);
    part.kinds.iter().for_each(|kind| imports.add(&kind.object));
    let imported = imports.paths().map(path);
    let extended = part.kinds.iter().filter(|kind| kind.extended.lister);
    let expansions = extended.map(|kind| modules::expansion(&kind.module));
    let kinds = part.kinds.iter().map(|kind| of_kind(kind, &imports));
    Skeleton::new("listers")
        .name("ApiVersion", &part.version.api_version)
        .items(
            "imports",
            quote! {
                use ::kubesmith_runtime::lister;
                #(use #imported;)*
                #(#expansions)*
            },
        )
        .items("kinds", quote!(#(#kinds)*))
        .fill()
}

/// The listers of a kind: aliases of the runtime's, or types of the package if a handwritten file extends
/// them.
fn of_kind(kind: &KindPlan<'_>, imports: &Imports) -> TokenStream {
    let skeleton = match (kind.extended.lister, kind.is_namespaced()) {
        (false, false) => "lister_cluster",
        (false, true) => "lister_namespaced",
        (true, false) => "lister_cluster_extended",
        (true, true) => "lister_namespaced_extended",
    };
    let docs = format!(
        "Reads `{}` objects from an informer's cache. Objects are shared: clone one to change it.",
        kind.kind
    );
    Skeleton::new(skeleton)
        .name("Docs", kind.docs(docs))
        .name("Kind", &kind.kind)
        .name("Lister", &kind.lister)
        .name("NamespaceLister", &kind.namespace_lister)
        .name("Object", imports.name(&kind.object))
        .fill()
}
