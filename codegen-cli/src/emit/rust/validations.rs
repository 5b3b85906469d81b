//! Emits validation: the traits, and a file for each version of a group.

use proc_macro2::TokenStream;
use quote::quote;

use super::plan::{Part, Plan};
use super::skeleton::Skeleton;
use super::{File, by_group, modules};

pub(super) fn files<'p>(plan: &'p Plan<'p>) -> Vec<File<'p>> {
    let parts = plan.validations();
    if parts.is_empty() {
        return Vec::new();
    }
    let mut root = File::new(plan, "validations/mod.rs");
    root.block(move || {
        let parts = plan.validations();
        let groups = by_group(&parts).into_iter().map(|(group, parts)| {
            let versions = parts.iter().map(|part| part.version.module.as_str()).collect();
            (group.module.as_str(), group.title.as_str(), versions)
        });
        Skeleton::new("validations").items("modules", modules::tree("Validation", groups)).fill()
    });
    let mut files = vec![root];
    files.extend(parts.into_iter().map(|part| {
        let mut file = File::new(plan, part.file("validations"));
        file.block(move || version_items(plan, &part));
        file
    }));
    files
}

fn version_items(plan: &Plan<'_>, part: &Part<'_>) -> TokenStream {
    let kinds = part.kinds.iter().map(|kind| {
        let crd = plan.options.validated.get(&kind.resource.root).map_or("", String::as_str);
        let skeleton = |name| {
            Skeleton::new(name)
                .name("Kind", &kind.kind)
                .name("module", &kind.module)
                .name("Object", &kind.object)
                .name("root", &plan.root)
                .name("crd", crd)
                .name("version", part.version.name)
        };
        let of_status = kind.resource.crd.status_subresource.then(|| skeleton("validation_status").fill());
        let of_kind = skeleton("validation").fill();
        quote!(#of_kind #of_status)
    });
    Skeleton::new("validations_version")
        .name("ApiVersion", &part.version.api_version)
        .items("kinds", quote!(#(#kinds)*))
        .fill()
}
