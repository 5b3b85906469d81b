//! Checks the versions of a kind.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use kubesmith_core::diag::Code;

use super::Input;
use crate::definition::{Definition, Version};
use crate::diag::Diagnostic;
use crate::ir::{CrdStyle, Resource, Scope};
use crate::source::Loc;

/// Checks that the versions agree on the names of their CRD.
pub(super) fn agree(input: &Input<'_>, definition: &Definition<'_>, out: &mut Vec<Diagnostic>) {
    let Some((Version { name: first_name, resource: first, .. }, rest)) = definition.versions.split_first()
    else {
        return;
    };
    for Version { name, resource, .. } in rest {
        for ((key, place, mine), (_, _, theirs)) in facts(resource).into_iter().zip(facts(first)) {
            if mine == theirs {
                continue;
            }
            out.push(
                Diagnostic::error(
                    Code::VERSION_FACTS,
                    key_loc(input, resource, place),
                    format!(
                        "{key} of {} is `{mine}` in {name} and `{theirs}` in {first_name}",
                        resource.kind
                    ),
                )
                .secondary(key_loc(input, first, place), format!("the version {first_name}"))
                .help("versions of a kind share their names and scope: say the same in both"),
            );
        }
    }
}

/// Checks that all versions with a conversion have the same one.
pub(super) fn conversions_agree(input: &Input<'_>, definition: &Definition<'_>, out: &mut Vec<Diagnostic>) {
    let mut versions = definition.versions.iter().filter(|version| version.resource.crd.conversion.is_some());
    let Some(Version { resource: first, .. }) = versions.next() else { return };
    for Version { name, resource, .. } in
        versions.filter(|version| version.resource.crd.conversion != first.crd.conversion)
    {
        out.push(
            Diagnostic::error(
                Code::VERSION_FACTS,
                key_loc(input, resource, "conversion"),
                format!("the conversion of {} is another one in {name}", resource.kind),
            )
            .secondary(key_loc(input, first, "conversion"), "the other one")
            .help("versions of a kind are converted in one way: say it on one of them"),
        );
    }
}

/// The location of a key of `#[resource]`, or else of the definition.
fn key_loc(input: &Input<'_>, resource: &Resource, place: &str) -> Option<Loc> {
    input.loc(resource.places.get(place).unwrap_or(&resource.span))
}

/// The facts that versions share: name, place and value of each.
fn facts(resource: &Resource) -> [(&'static str, &'static str, String); 6] {
    let scope = match resource.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    [
        ("the plural", "names.plural", resource.plural.clone()),
        ("the singular", "names.singular", resource.singular.clone()),
        ("the list kind", "names.listKind", resource.list_kind.clone()),
        ("the list of short names", "names.shortNames[0]", resource.short_names.join(", ")),
        ("the list of categories", "names.categories[0]", resource.categories.join(", ")),
        ("the scope", "scope", scope.to_string()),
    ]
}

/// Checks that exactly one version is stored; a single version is by default.
pub(super) fn one_is_stored(input: &Input<'_>, definition: &Definition<'_>, out: &mut Vec<Diagnostic>) {
    let [Version { resource: first, .. }, _, ..] = &definition.versions[..] else { return };
    // A duplicate version has been reported.
    if definition.versions.windows(2).any(|pair| pair[0].name == pair[1].name) {
        return;
    }
    let stored: Vec<_> = definition.versions.iter().filter(|version| version.storage).collect();
    match &stored[..] {
        [_] => {}
        [] => out.push(
            Diagnostic::error(
                Code::STORAGE_VERSION,
                input.loc(&first.span),
                format!("{} has {} versions and none is stored", first.kind, definition.versions.len()),
            )
            .help(storage_help(first)),
        ),
        [Version { name: first_name, resource: first, .. }, rest @ ..] => {
            for Version { name, resource, .. } in rest {
                let found = Diagnostic::error(
                    Code::STORAGE_VERSION,
                    key_loc(input, resource, "storage"),
                    format!("both {first_name} and {name} of {} are stored", resource.kind),
                );
                let found =
                    found.secondary(key_loc(input, first, "storage"), format!("the version {first_name}"));
                out.push(super::judged(input.ir, found.help(storage_help(resource))));
            }
        }
    }
}

/// Checks that at most one version is the hub, including those that the CRD skips.
pub(super) fn one_is_the_hub(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for group in &input.ir.groups {
        let mut hubs: BTreeMap<&str, (&str, &Resource)> = BTreeMap::new();
        for version in &group.versions {
            for resource in version.resources.iter().filter(|resource| resource.crd.hub) {
                let first = match hubs.entry(&resource.kind) {
                    Entry::Vacant(entry) => {
                        entry.insert((&version.name, resource));
                        continue;
                    }
                    Entry::Occupied(entry) => *entry.get(),
                };
                let message = format!("both {} and {} of {} are hubs", first.0, version.name, resource.kind);
                out.push(
                    Diagnostic::error(Code::HUB_VERSION, key_loc(input, resource, "hub"), message)
                        .secondary(key_loc(input, first.1, "hub"), format!("the version {}", first.0))
                        .help("say `hub` in #[resource] of one of them, and only there"),
                );
            }
        }
    }
}

fn storage_help(resource: &Resource) -> &'static str {
    match resource.crd.style {
        CrdStyle::ControllerGen => "say `storage_version` in #[resource] of one of them, and only there",
        CrdStyle::Kube => "say `storage = true` in #[kube] of one of them, and only there",
    }
}

/// Checks that at least one version is served.
pub(super) fn one_is_served(input: &Input<'_>, definition: &Definition<'_>, out: &mut Vec<Diagnostic>) {
    let first = definition.first();
    if definition.versions.iter().all(|version| !version.served) {
        out.push(
            Diagnostic::error(
                Code::NOT_SERVED,
                key_loc(input, first, "served"),
                format!("no version of {} is served", first.kind),
            )
            .help("remove `unserved_version` from one of them"),
        );
    }
}
