//! Definitions of Go packages whose project calls controller-gen with other options for other packages: each call has the
//! options of its own packages.

use std::fs;

use super::go::Part;
use super::{Chosen, after_load, targets};
use crate::diag::Diagnostic;
use crate::ir::Ir;
use crate::load::Loaded;
use crate::output::Target;
use crate::selection::Selection;
use crate::source::SourceMap;

/// Makes the target of CRDs from the kinds of each part.
pub(super) fn definitions(
    parts: &[Part],
    ir: &Ir,
    loaded: &mut Loaded,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Target> {
    let kinds = kinds(parts, ir, loaded.sources());
    let mut all: Option<Target> = None;
    for (at, part) in parts.iter().enumerate() {
        let names: Vec<String> =
            kinds.iter().filter(|(_, of)| *of == at).map(|(name, _)| name.clone()).collect();
        if names.is_empty() {
            continue;
        }
        let chosen = Chosen { selection: Selection::of(&names), ..Chosen::default() };
        let mut found = Vec::new();
        let (_, own) = after_load(&part.settings, &chosen, loaded, &mut found, targets::definitions);
        // The kinds of all parts together have most of their diagnostics already.
        found.retain(|one| !diagnostics.contains(one));
        diagnostics.append(&mut found);
        for target in own {
            match &mut all {
                Some(all) => target.tree.iter().for_each(|(path, text)| {
                    all.tree.insert(path, text);
                }),
                None => all = Some(target),
            }
        }
    }
    all
}

/// The kinds in the notation of a selection, each with its part: that of its first version.
fn kinds(parts: &[Part], ir: &Ir, sources: &SourceMap) -> Vec<(String, usize)> {
    let mut out: Vec<(String, usize)> = Vec::new();
    for group in &ir.groups {
        for resource in group.versions.iter().flat_map(|version| &version.resources) {
            let name = format!("{}.{}", resource.kind, group.name);
            if out.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let file = sources.loc(&resource.span).map(|loc| sources.file(loc.file).path.clone());
            let file = file.and_then(|file| fs::canonicalize(file).ok()).unwrap_or_default();
            let is_of = |part: &Part| {
                part.folders.is_empty() || part.folders.iter().any(|folder| file.starts_with(folder))
            };
            out.extend(parts.iter().position(is_of).map(|part| (name, part)));
        }
    }
    out
}
