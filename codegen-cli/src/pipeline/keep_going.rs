//! Finds the kinds with errors, so that the others can be written, or code of the project can give their
//! definitions.

use std::collections::BTreeSet;

use crate::config::Settings;
use crate::diag::{self, Diagnostic};
use crate::load::Loaded;
use crate::lower::Root;
use crate::selection::Selection;

/// The kinds with errors.
#[derive(Debug, Default)]
pub(super) struct Failing {
    /// Their names with groups, in the notation of a selection, and their errors and warnings.
    pub(super) kinds: Vec<(String, Vec<Diagnostic>)>,
    /// The root types of all kinds.
    pub(super) roots: Vec<Root>,
}

impl Failing {
    /// Whether every kind has errors.
    pub(super) fn is_all(&self) -> bool {
        let all: BTreeSet<String> = self.roots.iter().map(Root::name).collect();
        !all.is_empty() && self.kinds.len() == all.len()
    }
}

/// Runs the stages up to validation. Halves sets of kinds with errors until each such kind is alone.
pub(super) fn failing(settings: &Settings, loaded: &mut Loaded) -> Failing {
    let all = check(settings, &settings.selection, loaded);
    let mut failing = Failing { kinds: Vec::new(), roots: all.roots };
    if all.is_failed {
        let names: BTreeSet<String> = failing.roots.iter().map(Root::name).collect();
        let names: Vec<String> = names.into_iter().collect();
        halve(settings, &names, true, loaded, &mut failing.kinds);
    }
    failing
}

/// Adds the kinds that have errors.
fn halve(
    settings: &Settings,
    names: &[String],
    is_failed: bool,
    loaded: &mut Loaded,
    out: &mut Vec<(String, Vec<Diagnostic>)>,
) {
    if let ([name], false) = (names, is_failed) {
        let found = check(settings, &Selection::of(names), loaded);
        if found.is_failed {
            out.push((name.clone(), found.diagnostics));
        }
        return;
    }
    if !is_failed && !check(settings, &Selection::of(names), loaded).is_failed {
        return;
    }
    let (left, right) = names.split_at(names.len().div_ceil(2));
    for half in [left, right] {
        // A kind that failed with others may pass alone.
        if !half.is_empty() {
            halve(settings, half, false, loaded, out);
        }
    }
}

/// The result for some kinds.
struct Checked {
    roots: Vec<Root>,
    diagnostics: Vec<Diagnostic>,
    is_failed: bool,
}

fn check(settings: &Settings, selection: &Selection, loaded: &mut Loaded) -> Checked {
    let mut lowering = super::lowered(settings, selection, loaded);
    let mut diagnostics = std::mem::take(&mut lowering.diagnostics);
    if !diag::has_errors(&diagnostics)
        && let Some(schemas) = super::schemas(settings, &mut lowering.ir, loaded.sources(), &mut diagnostics)
    {
        super::validated(&lowering.ir, &schemas, loaded.sources(), &mut diagnostics);
    }
    settings.lints.apply(&mut diagnostics);
    let is_failed = lowering.is_broken || diag::has_errors(&diagnostics);
    Checked { roots: lowering.roots, diagnostics, is_failed }
}
