//! Checks JSON paths of columns, scale and selectable fields.

use kubesmith_core::diag::Code;

use super::Input;
use crate::definition::path::walk;
use crate::diag::Diagnostic;
use crate::ir::{PrintColumn, Resource};

/// Checks that paths name fields of the schema, unless it is open. An API server accepts others, without
/// effect.
pub(super) fn exist(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let versions = input.ir.groups.iter().flat_map(|group| &group.versions);
    for resource in versions.flat_map(|version| &version.resources) {
        let Some(schema) = input.schemas.of(resource) else { continue };
        for (what, place, path) in paths(resource) {
            if let Err(missing) = walk(schema, path) {
                let loc = input.loc(resource.places.get(&place).unwrap_or(&resource.span));
                let message = format!("{what} names `{path}`, but there is no field `{}`", missing.name);
                out.push(Diagnostic::warning(Code::PATH_NOT_IN_SCHEMA, loc, message).help(missing.help()));
            }
        }
    }
}

/// The paths of columns and of scale: the owner, its place and the path.
fn paths(resource: &Resource) -> Vec<(String, String, &str)> {
    let mut out = Vec::new();
    // A column without a type has its own diagnostic.
    let typed = |(_, column): &(usize, &PrintColumn)| column.type_.is_some();
    for (index, column) in resource.crd.print_columns.iter().enumerate().filter(typed) {
        let place = format!("additionalPrinterColumns[{index}].jsonPath");
        out.push((format!("the column `{}`", column.name), place, column.json_path.as_str()));
    }
    let Some(scale) = &resource.crd.scale else { return out };
    let all = [
        ("specReplicasPath", Some(&scale.spec_replicas_path)),
        ("statusReplicasPath", Some(&scale.status_replicas_path)),
        ("labelSelectorPath", scale.label_selector_path.as_ref()),
    ];
    for (name, path) in all {
        out.extend(
            path.map(|path| ("scale".to_string(), format!("subresources.scale.{name}"), path.as_str())),
        );
    }
    out
}
