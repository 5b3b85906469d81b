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
use crate::validate;
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
    let breaking = changes.filter(|change| change.class(false) != Class::Compatible);
    breaking
        .filter(|change| !is_of_copy(old, change) && !is_bound_of_type(generated, change))
        .map(warning)
        .collect()
}

/// Whether the version was as `create api` copies it from the stored one: no object and no client needs it yet.
fn is_of_copy(old: &Loaded, change: &Change) -> bool {
    let definition = old.definitions.get(&change.crd);
    let versions = definition.map_or(&[][..], |definition| &definition.versions);
    let changed = versions.iter().find(|version| change.version.as_ref() == Some(&version.name));
    let stored = versions.iter().find(|version| version.storage);
    changed.zip(stored).is_some_and(|(changed, stored)| !changed.storage && changed.schema == stored.schema)
}

/// Whether the change is a bound that the integer type has anyway, which KS0703 advises: no client of this type
/// could read an object beyond it.
fn is_bound_of_type(generated: &Generated, change: &Change) -> bool {
    let Some(loc) = load::place(generated, change) else { return false };
    let mut fields = generated.ir.types.iter().flat_map(|definition| definition.shape.fields());
    let field = fields.find(|field| generated.sources.loc(&field.span) == Some(loc));
    let bounds = field.and_then(|field| validate::bounds(&field.ty));
    bounds.is_some_and(|(least, greatest)| {
        [format!("minimum {least} is new"), format!("maximum {greatest} is new")].contains(&change.message)
    })
}
