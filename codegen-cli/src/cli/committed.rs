//! Warns if a new CRD breaks the one on disk.

use std::path::Path;

use kubesmith_core::diag::Code;

use crate::config::Settings;
use crate::diag::{self, Diagnostic};
use crate::diff::load::{self, Loaded};
use crate::diff::{self, Change, Class};
use crate::import::Input;
use crate::output::Kind;
use crate::paths::display;
use crate::pipeline::Generated;
use crate::scaffold;
use crate::write::Plan;

/// Breaking changes of each run, at the levels of its settings. Only changed files are read as definitions.
pub(super) fn check(plan: &Plan, runs: &[(Settings, Generated)]) -> Vec<Vec<Diagnostic>> {
    let changed: Vec<_> = plan.rewrites(Kind::Crd).collect();
    if changed.is_empty() {
        return vec![Vec::new(); runs.len()];
    }
    let of_run = |(settings, generated): &(Settings, Generated)| {
        let folder = settings.crd_output.as_deref();
        let own = changed.iter().filter(|(path, ..)| folder == path.parent());
        // A kind that is as `create api` made it has no objects yet.
        let own = own.filter(|(_, before, _)| !scaffold::is_untouched(before));
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (path, before, after) in own {
            old.push(input(path, before));
            new.extend(after.map(|after| input(path, after)));
        }
        let (old, new) = (load::texts(old), load::texts(new));
        // An edited file may no longer be a definition.
        if old.definitions.is_empty() || old.has_errors() || new.has_errors() {
            return Vec::new();
        }
        let mut found = warnings(&old, &new, generated);
        settings.lints.apply(&mut found);
        diag::sort(&mut found, &generated.sources);
        found
    };
    runs.iter().map(of_run).collect()
}

fn input(path: &Path, text: &str) -> Input {
    Input { name: display(path), text: text.to_owned() }
}

fn warnings(old: &Loaded, new: &Loaded, generated: &Generated) -> Vec<Diagnostic> {
    let warning = |change: Change| {
        let loc = load::place(generated, &change);
        let rule = change.code.rule();
        let version = change.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
        let message =
            format!("{}{version} {} {}: {}", change.crd, change.path, rule.class.words(), change.message);
        Diagnostic::warning(Code::BREAKS_COMMITTED, loc, message)
            .note(format!("{}: {}", rule.name, rule.reason))
            .help(rule.help)
    };
    let changes = diff::compare(&old.definitions, &new.definitions).into_iter();
    changes.filter(|change| change.class(false) != Class::Compatible).map(warning).collect()
}
