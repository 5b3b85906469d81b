//! Finds the kinds with errors, so that the others can be written: `--keep-going`.

use crate::config::Settings;
use crate::diag::{self, Diagnostic};
use crate::load::Loaded;
use crate::selection::Selection;

/// The kinds with errors.
#[derive(Debug, Default)]
pub(super) struct Failing {
    /// Their names with their groups, as a selection leaves them out.
    pub(super) kinds: Vec<String>,
    /// Their errors and warnings.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether no kind is without errors.
    pub(super) is_all: bool,
}

/// Runs the stages up to validation for each kind alone, unless all of them pass together.
pub(super) fn failing(settings: &Settings, loaded: &mut Loaded) -> Failing {
    let all = check(settings, &settings.selection, loaded);
    let mut failing = Failing::default();
    if !all.is_failed {
        return failing;
    }
    for (group, kind) in &all.kinds {
        let found = check(settings, &Selection::one(group, kind), loaded);
        if found.is_failed {
            failing.kinds.push(format!("{kind}.{group}"));
            failing.diagnostics.extend(found.diagnostics);
        }
    }
    failing.is_all = !all.kinds.is_empty() && failing.kinds.len() == all.kinds.len();
    failing
}

/// The result for some kinds.
struct Checked {
    kinds: Vec<(String, String)>,
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
    Checked { kinds: lowering.kinds.into_iter().collect(), diagnostics, is_failed }
}
