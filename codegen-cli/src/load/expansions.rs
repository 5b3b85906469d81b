//! Inserts the items of expansions into modules.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use kubesmith_core::diag::{Code, Severity};

use super::files::{Place, add_items};
use super::{Loaded, ModuleId};
use crate::diag::Diagnostic;
use crate::parse::unread_include;
use crate::syntax::{Items, MacroCall, Step};

/// The expansion of a call.
#[derive(Debug, Default)]
pub struct Expanded {
    /// Its items.
    pub items: Items,
    /// Their diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl Expanded {
    /// A call without a readable expansion.
    pub fn failed(diagnostic: Diagnostic) -> Self {
        Self { items: Items::default(), diagnostics: vec![diagnostic] }
    }
}

impl Loaded {
    /// Like [`Loaded::read`], for path dependencies only.
    pub fn read_local(&mut self, wanted: &BTreeSet<usize>) -> bool {
        let local = wanted.iter().copied().filter(|at| self.crates.foreign[*at].path.is_some());
        let local: BTreeSet<usize> = local.collect();
        self.read(&local)
    }

    /// Replaces a call by items. Errors in a dependency's items matter only if a type is not found.
    pub fn replace(&mut self, krate: usize, module: ModuleId, call: &Arc<MacroCall>, expanded: Expanded) {
        let Expanded { mut items, mut diagnostics } = expanded;
        let krate = &mut self.crates.list[krate];
        items.facts = krate.modules[module].facts.clone();
        let nowhere = Path::new("");
        let place =
            Place { module, path_folder: nowhere, child_folder: nowhere, folder: nowhere, chain: &[] };
        let steps = add_items(krate, &place, items, &mut |_, item, _| {
            if item.is_include {
                diagnostics.push(unread_include(&item.name));
                return;
            }
            let message = format!("the module `{}`, which a macro declares, is not read", item.name.text);
            diagnostics.push(
                Diagnostic::error(Code::MACRO_EXPANSION, item.name.loc, message)
                    .help("declare the module beside the call of the macro"),
            );
        });
        let all = &mut krate.modules[module].steps;
        let is_call = |step: &Step| matches!(step, Step::Call(other) if Arc::ptr_eq(other, call));
        if let Some(at) = all.iter().position(is_call) {
            all.splice(at..=at, steps);
        }
        if krate.is_input {
            self.files.diagnostics.extend(diagnostics);
        } else {
            krate.problems.extend(diagnostics.into_iter().filter(|found| found.severity == Severity::Error));
        }
    }
}
