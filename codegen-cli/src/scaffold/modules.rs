//! Names modules and types in a project, and refuses clashes.

use std::collections::BTreeSet;

use kubesmith_core::names::{is_in_prelude, is_keyword, module_name, pluralize_type};

use super::ScaffoldError;
use super::project::{Gvk, Project, ProjectResource};
use super::template::{client_templates, kind_templates, names};

/// Modules of the controllers' package without a kind.
const RESERVED: [&str; 4] = ["conversions", "lib", "main", "webhooks"];

/// The suffixes of modules for a kind's webhooks.
const SUFFIXES: [&str; 3] = ["_conversion", "_defaulter", "_validator"];

/// The module of a group in the API package. As in the generator, `g` precedes a digit.
pub(super) fn group_module(group: &str) -> String {
    let name = module_name(&group.replace('.', "_"));
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("g{name}") } else { name }
}

/// The place of a kind's code in the controllers' package, and the name of its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The module of its controller, which is the prefix of its webhooks' modules.
    pub(super) module: String,
    /// The name of its controller.
    pub(super) controller: String,
}

/// The place of a kind: that of its name, or of its group and name if an earlier kind has the former.
///
/// # Errors
/// Returns an error if both are taken.
pub(super) fn place(project: &Project, gvk: &Gvk) -> Result<Place, ScaffoldError> {
    let wanted = (gvk.group.as_str(), gvk.kind.as_str());
    let mut seen = BTreeSet::new();
    let kinds = project.resources.iter().map(|known| (known.group.as_str(), known.kind.as_str()));
    let mut taken = Vec::new();
    for (group, kind) in kinds.take_while(|known| *known != wanted).filter(|known| seen.insert(*known)) {
        taken.extend(free(group, kind, &taken));
    }
    let lower = gvk.kind.to_lowercase();
    match free(&gvk.group, &gvk.kind, &taken) {
        Some(module) if module == module_name(&gvk.kind) => Ok(Place { module, controller: lower }),
        Some(module) => Ok(Place { module, controller: format!("{}-{lower}", gvk.group) }),
        None => Err(ScaffoldError::Usage(format!(
            "--kind {}: other kinds and their webhooks have its names in controller/src; choose another kind",
            gvk.kind
        ))),
    }
}

/// The first free name of a kind.
fn free(group: &str, kind: &str, taken: &[String]) -> Option<String> {
    let long = format!("{}_{}", group_module(group).trim_end_matches('_'), module_name(kind));
    [module_name(kind), module_name(&long)].into_iter().find(|module| is_free(module, taken))
}

fn is_free(module: &str, taken: &[String]) -> bool {
    let is_webhook_of = |whole: &str, stem: &str| {
        whole
            .strip_prefix(stem)
            .is_some_and(|rest| rest.starts_with('_') && SUFFIXES.iter().any(|suffix| rest.ends_with(suffix)))
    };
    !RESERVED.contains(&module)
        && !taken
            .iter()
            .any(|known| known == module || is_webhook_of(module, known) || is_webhook_of(known, module))
}

/// The module of one of a kind's webhooks. For the first version, the name has no version.
pub(super) fn webhook_module(project: &Project, gvk: &Gvk, what: &str) -> Result<String, ScaffoldError> {
    let Place { module, .. } = place(project, gvk)?;
    let first = project.resources.iter().find(|known| known.group == gvk.group && known.kind == gvk.kind);
    let version = match first.is_none_or(|first| first.version == gvk.version) {
        true => String::new(),
        false => format!("_{}", module_name(&gvk.version)),
    };
    Ok(format!("{module}{version}_{what}"))
}

/// Refuses a kind whose names in code are those of another kind, or those that templates use.
///
/// # Errors
/// Returns an error that names the clash.
pub(super) fn check(project: &Project, gvk: &Gvk) -> Result<(), ScaffoldError> {
    let refused = |text: String| Err(ScaffoldError::Usage(text));
    let (group, kind) = (group_module(&gvk.group), gvk.kind.as_str());
    if group == "lib" {
        return refused("--group lib: `lib.rs` is the root of the package; choose another group".into());
    }
    if let Some(other) =
        project.resources.iter().find(|other| other.group != gvk.group && group_module(&other.group) == group)
    {
        return refused(format!(
            "the groups {} and {} would both be `{group}` in api/src",
            other.group, gvk.group
        ));
    }
    if is_keyword(kind) {
        return refused(format!("--kind {kind}: a type cannot have this name in Rust; choose another kind"));
    }
    if is_in_prelude(kind) {
        return refused(format!(
            "--kind {kind}: Rust's prelude has this name, and code beside the type could not use it; choose another kind"
        ));
    }
    let client = pluralize_type(kind);
    if kind_templates().iter().any(|template| names(template).contains(kind))
        || client_templates().iter().any(|template| names(template).contains(client.as_str()))
    {
        return refused(format!(
            "--kind {kind}: files of the project use this name for something else; choose another kind"
        ));
    }
    let beside = project
        .resources
        .iter()
        .filter(|other| other.group == gvk.group && other.version == gvk.version && other.kind != gvk.kind);
    for other in beside {
        if let Some(name) = shared(kind, other) {
            return refused(format!(
                "--kind {kind}: {} of {}/{} has `{name}` in code already; choose another kind",
                other.kind, gvk.group, gvk.version
            ));
        }
    }
    place(project, gvk).map(drop)
}

/// A name that the kind shares with another kind of its version.
fn shared(kind: &str, other: &ProjectResource) -> Option<String> {
    let module = module_name(kind);
    if module == module_name(&other.kind) {
        return Some(module);
    }
    let types = |kind: &str| ["", "Spec", "Status"].map(|part| format!("{kind}{part}"));
    let theirs = types(&other.kind);
    types(kind).into_iter().find(|name| theirs.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_name_is_refused_when_generated_modules_use_it() {
        let taken = ["pool".to_string(), "order_validator".to_string()];
        for free in ["pools", "pool_validators", "order_defaulter", "ord"] {
            assert!(is_free(free, &taken), "{free}");
        }
        for other in ["pool", "main", "pool_defaulter", "pool_v1_conversion", "order"] {
            assert!(!is_free(other, &taken), "{other}");
        }
    }
}
