//! Fields that are lost between versions when no webhook converts.

use std::collections::BTreeSet;

use kubesmith_apiextensions::structural::{Additional, Path, Structural};

use super::model::{Definition, Version};
use super::{Change, ChangeCode};

/// Adds the fields that the new definition loses and the old one did not.
pub(super) fn check(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    let known: BTreeSet<(String, String)> = lost(old).into_iter().map(|loss| (loss.in_, loss.path)).collect();
    for loss in lost(new).into_iter().filter(|loss| !known.contains(&(loss.in_.clone(), loss.path.clone()))) {
        let mut steps =
            ["spec", "versions", &loss.of, "schema", "openAPIV3Schema"].map(str::to_owned).to_vec();
        steps.extend(loss.steps);
        changes.push(Change {
            crd: new.name.clone(),
            version: Some(loss.of),
            path: loss.path,
            code: ChangeCode::VersionsDiverge,
            certain: true,
            message: format!("the field is not known to {}, which has no conversion", loss.in_),
            steps,
        });
    }
}

/// A field of a version that another version drops.
struct Loss {
    of: String,
    in_: String,
    path: String,
    steps: Vec<String>,
}

/// What is lost between the storage version and the others.
fn lost(definition: &Definition) -> Vec<Loss> {
    let Some(storage) = definition.storage().filter(|_| !definition.has_webhook()) else { return Vec::new() };
    let mut out = Vec::new();
    for other in definition.versions.iter().filter(|version| version.served && !version.storage) {
        between(storage, other, &mut out);
        between(other, storage, &mut out);
    }
    out
}

fn between(of: &Version, in_: &Version, out: &mut Vec<Loss>) {
    let mut found = Vec::new();
    walk(&of.schema, &in_.schema, &Path::root(), &mut Vec::new(), true, &mut found);
    out.extend(found.into_iter().map(|(path, steps)| Loss {
        of: of.name.clone(),
        in_: in_.name.clone(),
        path,
        steps,
    }));
}

type Found = Vec<(String, Vec<String>)>;

/// Finds the topmost fields that `has` knows and `lacks` drops.
fn walk(
    has: &Structural,
    lacks: &Structural,
    path: &Path,
    steps: &mut Vec<String>,
    is_resource: bool,
    out: &mut Found,
) {
    let mut below =
        |path: Path, keys: &[&str], has: &Structural, lacks: Option<&Structural>, out: &mut Found| {
            let length = steps.len();
            steps.extend(keys.iter().map(ToString::to_string));
            match lacks {
                Some(lacks) => walk(has, lacks, &path, steps, has.embedded_resource, out),
                None => out.push((path.into(), steps.clone())),
            }
            steps.truncate(length);
        };
    let keeps = lacks.preserves_unknown_fields()
        || matches!(lacks.additional_properties, Some(Additional::Any(true)));
    for (name, field) in &has.properties {
        if is_resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        match lacks.field(name) {
            None if keeps => {}
            found => below(path.child(name), &["properties", name], field, found, out),
        }
    }
    if let Some(values) = has.additional_schema() {
        match lacks.additional_schema() {
            None if keeps => {}
            found => below(path.key("*"), &["additionalProperties"], values, found, out),
        }
    }
    if let (Some(items), Some(others)) = (&has.items, &lacks.items) {
        below(path.key("*"), &["items"], items, Some(others), out);
    }
}
