//! Checks that names are unique.

use std::collections::BTreeMap;

use kubesmith_core::diag::{Code, Severity};
use kubesmith_core::names;

use super::Input;
use crate::diag::Diagnostic;
use crate::ir::{CrdStyle, Group, Resource, Version};

/// Checks that a kind has one definition per version.
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

/// Checks that no two kinds of a group share a plural, singular or short name, or a kind with a list kind.
pub(super) fn resource_names_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for group in &input.ir.groups {
        // Kinds and list kinds share a namespace, and so do the names of resources.
        let mut taken: BTreeMap<(bool, &str), (&Resource, &str)> = BTreeMap::new();
        for resource in resources(group) {
            let short = resource.short_names.iter().map(|name| ((false, name.as_str()), "short name"));
            let names = [
                ((true, resource.kind.as_str()), "kind"),
                ((true, resource.list_kind.as_str()), "list kind"),
                ((false, resource.plural.as_str()), "plural"),
                ((false, resource.singular.as_str()), "singular"),
            ];
            for (name, what) in names.into_iter().chain(short) {
                let (owner, owner_what) = *taken.entry(name).or_insert((resource, what));
                // Versions of a kind share their names.
                if owner.kind == resource.kind {
                    continue;
                }
                let is_kube = resource.crd.style == CrdStyle::Kube;
                let attribute = if is_kube { "#[kube]" } else { "#[resource]" };
                let mut found = Diagnostic::error(
                    Code::DUPLICATE_RESOURCE_NAME,
                    input.loc(&resource.span),
                    format!(
                        "the {what} `{}` of {} is the {owner_what} of {} already",
                        name.1, resource.kind, owner.kind
                    ),
                )
                .secondary(input.loc(&owner.span), format!("{} is defined here", owner.kind))
                .help(format!("set another {what} in {attribute}"));
                // kube-rs writes it, and each definition alone is valid.
                if is_kube && what == "short name" && owner_what == "short name" {
                    found.severity = Severity::Warning;
                    found.notes.push("an API server serves only the kind that was there first".to_string());
                }
                out.push(found);
            }
        }
    }
}

fn resources(group: &Group) -> impl Iterator<Item = &Resource> {
    group.versions.iter().flat_map(|version| &version.resources)
}

/// Checks that groups, group-versions, and the kinds of a version have distinct modules, types and accessors.
/// This includes kinds without a client if the package can name their types.
pub(super) fn code_names_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let groups = input.ir.client_groups();
    let nameable = input.ir.nameable();
    let is_named = |resource: &&Resource| nameable.contains(resource.code.lib());
    let mut groups_by_name: [BTreeMap<&str, Named<'_>>; 2] = Default::default();
    let mut versions_by_name: [BTreeMap<String, Named<'_>>; 2] = Default::default();
    for group in &*groups {
        // The names of clients and of informers, which are usually equal.
        let names =
            [(&group.module, &group.code_name), (&group.informer_code_name, &group.informer_code_name)];
        for version in &group.versions {
            let kinds: Vec<&Resource> = version.resources.iter().filter(is_named).collect();
            let Some(first) = kinds.first() else { continue };
            let named = Named { group, version, first };
            for ((taken, versions), (key, name)) in
                groups_by_name.iter_mut().zip(&mut versions_by_name).zip(names)
            {
                let of_group = group_is_free(input, taken, named, (key, name));
                let found = of_group.or_else(|| version_is_free(input, versions, named, name));
                out.extend(found.filter(|found| !out.contains(found)));
            }
            kinds_in_code_are_unique(input, &kinds, out);
        }
    }
}

/// A version with a kind that has names in code.
#[derive(Clone, Copy)]
struct Named<'a> {
    group: &'a Group,
    version: &'a Version,
    first: &'a Resource,
}

fn group_is_free<'a>(
    input: &Input<'_>,
    taken: &mut BTreeMap<&'a str, Named<'a>>,
    named: Named<'a>,
    (key, name): (&'a str, &str),
) -> Option<Diagnostic> {
    let other = taken.insert(key, named).filter(|other| other.group.name != named.group.name)?;
    let (one, two) = (title(other.group), title(named.group));
    let what = format!("the groups {one} and {two} are both `{name}` in code");
    Some(collision(input, what, named.first, other.first, OTHER_GROUP))
}

/// Returns advice for two groups.
const OTHER_GROUP: &str = "set `group_name_in_code` in #[resource] of one of them";

fn version_is_free<'a>(
    input: &Input<'_>,
    taken: &mut BTreeMap<String, Named<'a>>,
    named: Named<'a>,
    group_name: &str,
) -> Option<Diagnostic> {
    let name = format!("{group_name}{}", named.version.code_name);
    let other = *taken.entry(name.clone()).or_insert(named);
    let (one, two) = (&other.version.name, &named.version.name);
    if other.group.name == named.group.name {
        let what = format!(
            "the versions {one} and {two} of {} are both `{}` in code",
            named.group.name, named.version.code_name
        );
        let help = "give one of them another name";
        return (one != two).then(|| collision(input, what, named.first, other.first, help));
    }
    // Equal group names have their own diagnostic.
    if other.group.module == named.group.module
        || other.group.informer_code_name == named.group.informer_code_name
    {
        return None;
    }
    let what =
        format!("{}/{one} and {}/{two} are both `{name}` in code", title(other.group), title(named.group));
    Some(collision(input, what, named.first, other.first, OTHER_GROUP))
}

fn kinds_in_code_are_unique(input: &Input<'_>, kinds: &[&Resource], out: &mut Vec<Diagnostic>) {
    let mut names: BTreeMap<&str, &Resource> = BTreeMap::new();
    for resource in kinds {
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

/// The group's name, or a title for the core group.
fn title(group: &Group) -> &str {
    if group.name.is_empty() { "\"\"" } else { &group.name }
}

/// Requires the annotation that API servers require for CRDs of Kubernetes' own groups.
pub(super) fn protected_groups_are_approved(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for group in &input.ir.groups {
        let protected = names::is_protected_group(&group.name);
        for resource in resources(group).filter(|_| protected) {
            if !resource.crd.skipped && !resource.crd.annotations.contains_key(names::API_APPROVED) {
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
