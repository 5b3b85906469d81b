//! Names that must differ.

use std::collections::BTreeMap;

use kubesmith_core::diag::Code;

use super::Input;
use crate::diag::Diagnostic;
use crate::ir::{Group, Resource, Version};

/// A kind has one definition per version.
pub(super) fn kinds_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for group in &*input.ir.client_groups() {
        for version in &group.versions {
            for pair in version.resources.windows(2).filter(|pair| pair[0].kind == pair[1].kind) {
                out.push(
                    Diagnostic::error(
                        Code::DUPLICATE_KIND,
                        input.loc(&pair[1].span),
                        format!("{}/{} has the kind {} already", group.name, version.name, pair[1].kind),
                    )
                    .secondary(input.loc(&pair[0].span), "the first definition")
                    .help("give one of them another kind or version"),
                );
            }
        }
    }
}

/// No two kinds of a group share a plural, singular or short name; nor a kind and another's list kind.
pub(super) fn resource_names_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for group in &input.ir.groups {
        // Kinds are upper-case and the others lower-case, so one map holds both sets.
        let mut taken: BTreeMap<&str, (&Resource, &str)> = BTreeMap::new();
        for resource in resources(group) {
            let short = resource.short_names.iter().map(|name| (name.as_str(), "short name"));
            let names = [
                (resource.kind.as_str(), "kind"),
                (resource.list_kind.as_str(), "list kind"),
                (resource.plural.as_str(), "plural"),
                (resource.singular.as_str(), "singular"),
            ];
            for (name, what) in names.into_iter().chain(short) {
                let (owner, owner_what) = *taken.entry(name).or_insert((resource, what));
                // Versions of a kind share their names.
                if owner.kind == resource.kind {
                    continue;
                }
                out.push(
                    Diagnostic::error(
                        Code::DUPLICATE_RESOURCE_NAME,
                        input.loc(&resource.span),
                        format!(
                            "the {what} `{name}` of {} is the {owner_what} of {} already",
                            resource.kind, owner.kind
                        ),
                    )
                    .secondary(input.loc(&owner.span), format!("{} is defined here", owner.kind))
                    .help(format!("set another {what} in #[resource]")),
                );
            }
        }
    }
}

fn resources(group: &Group) -> impl Iterator<Item = &Resource> {
    group.versions.iter().flat_map(|version| &version.resources)
}

/// Groups, and the kinds of a version, have modules, types and accessors of their own.
pub(super) fn code_names_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let with_client = |group: &&Group| resources(group).any(|resource| resource.client.is_some());
    let mut modules: BTreeMap<&str, &Group> = BTreeMap::new();
    let groups = input.ir.client_groups();
    for group in groups.iter().filter(with_client) {
        let other = *modules.entry(group.module.as_str()).or_insert(group);
        if other.name != group.name
            && let (Some(first), Some(second)) = (resources(other).next(), resources(group).next())
        {
            let (one, two) = (title(other), title(group));
            let what = format!("the groups {one} and {two} are both `{}` in code", group.code_name);
            let help = "set `group_name_in_code` in #[resource] of one of them";
            out.push(collision(input, what, second, first, help));
        }
        versions_in_code_are_unique(input, group, out);
        for version in &group.versions {
            kinds_in_code_are_unique(input, version, out);
        }
    }
}

fn versions_in_code_are_unique(input: &Input<'_>, group: &Group, out: &mut Vec<Diagnostic>) {
    let mut versions: BTreeMap<&str, &Version> = BTreeMap::new();
    for version in &group.versions {
        let other = *versions.entry(version.code_name.as_str()).or_insert(version);
        if other.name != version.name
            && let (Some(first), Some(second)) = (other.resources.first(), version.resources.first())
        {
            let (one, two) = (&other.name, &version.name);
            let what = format!(
                "the versions {one} and {two} of {} are both `{}` in code",
                group.name, version.code_name
            );
            out.push(collision(input, what, second, first, "give one of them another name"));
        }
    }
}

fn kinds_in_code_are_unique(input: &Input<'_>, version: &Version, out: &mut Vec<Diagnostic>) {
    let mut names: BTreeMap<&str, &Resource> = BTreeMap::new();
    for resource in version.resources.iter().filter(|resource| resource.client.is_some()) {
        for name in [resource.code.accessor.as_str(), resource.code.module.as_str()] {
            let other = *names.entry(name).or_insert(resource);
            if other.kind != resource.kind {
                let what =
                    format!("the kinds {} and {} are both `{name}` in code", other.kind, resource.kind);
                out.push(collision(input, what, resource, other, "give one of them another kind"));
            }
        }
    }
}

fn collision(input: &Input<'_>, what: String, second: &Resource, first: &Resource, help: &str) -> Diagnostic {
    Diagnostic::error(Code::CODE_COLLISION, input.loc(&second.span), what)
        .secondary(input.loc(&first.span), "the other one")
        .help(help)
}

/// The group's name; the core group has none.
fn title(group: &Group) -> &str {
    if group.name.is_empty() { "\"\"" } else { &group.name }
}

/// API servers refuse CRDs of Kubernetes' own groups without the annotation.
pub(super) fn protected_groups_are_approved(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for group in &input.ir.groups {
        let protected = [".k8s.io", ".kubernetes.io"].iter().any(|suffix| group.name.ends_with(suffix))
            || matches!(group.name.as_str(), "k8s.io" | "kubernetes.io");
        for resource in resources(group).filter(|_| protected) {
            if !resource.crd.skipped && !resource.crd.annotations.contains_key("api-approved.kubernetes.io") {
                out.push(
                    Diagnostic::error(
                        Code::INVALID_API_APPROVED,
                        input.loc(resource.places.get("group").unwrap_or(&resource.span)),
                        format!("an API server refuses the group {} without an approval", group.name),
                    )
                    .help("add `api_approved = \"unapproved, experimental-only\"` to #[resource], or use a group of your own"),
                );
            }
        }
    }
}
