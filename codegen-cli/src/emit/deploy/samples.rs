//! Emits a sample object of every served version of every kind.

use super::{Folder, group_title};
use crate::ir::Ir;
use crate::reference::sample;
use crate::schema::Schemas;

pub(super) fn folder(ir: &Ir, schemas: &Schemas) -> Folder {
    let mut out = Folder::new("samples");
    for group in &ir.groups {
        for version in &group.versions {
            let served =
                version.resources.iter().filter(|resource| resource.crd.served && !resource.crd.skipped);
            for resource in served {
                let made = schemas.of(resource);
                let made = made.and_then(|schema| sample(&group.name, &version.name, resource, schema));
                let Some(made) = made else { continue };
                let kind = resource.kind.to_lowercase();
                let file = format!("{}_{}_{kind}.yaml", group_title(ir, group), version.name);
                out.texts.push((file, text(&made.yaml, &made.problem)));
            }
        }
    }
    out
}

/// The manifest, and the problem to fix before a server accepts it.
fn text(yaml: &str, problem: &str) -> String {
    if problem.is_empty() {
        return yaml.to_string();
    }
    let mut out = String::from("# To be completed: an API server would refuse it as it is.\n");
    for line in problem.lines() {
        out.push_str(&format!("# {}\n", line.trim_end()));
    }
    out + yaml
}
