//! The faults of the new definition as an update of the old one, by the API server's own checks.

use std::collections::BTreeSet;

use crate::structural::validate_crd;
use serde_json::{Value, json};

use super::model::Definition;
use super::{Certainty, Change, ChangeCode, Ratchets};

/// Adds the faults that no other change reports.
pub(super) fn check(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    let mut stored = stored(old);
    let before = complete(old, &stored);
    stored.extend(new.storage().map(|version| version.name.clone()));
    let after = complete(new, &stored);
    let told: BTreeSet<&str> = changes
        .iter()
        .filter(|change| change.code.rule().certainty == Certainty::Refused)
        .map(|change| change.path.as_str())
        .collect();
    let is_told = |field: &str| told.contains(field) || field.starts_with("status.storedVersions");
    let refused: Vec<Change> = validate_crd(&after, Some(&before))
        .into_iter()
        .filter(|cause| !is_told(&cause.field))
        .map(|cause| Change {
            crd: new.name.clone(),
            version: None,
            path: cause.field.clone(),
            code: ChangeCode::UpdateRefused,
            certain: true,
            ratchets: Ratchets::Never,
            message: one_line(&cause.message()),
            steps: steps(&cause.field),
        })
        .collect();
    changes.extend(refused);
}

/// Returns the versions in which objects may be stored.
fn stored(old: &Definition) -> BTreeSet<String> {
    let storage = old.storage().map(|version| version.name.clone());
    old.stored.iter().cloned().chain(storage).collect()
}

/// Returns the definition with the API server's defaults.
fn complete(definition: &Definition, stored: &BTreeSet<String>) -> Value {
    let mut out = definition.object.clone();
    out["status"] = json!({
        "conditions": [{"type": "Established", "status": "True"}],
        "storedVersions": stored,
    });
    out
}

/// Parses "spec.versions[0].name" into keys and indexes, as far as the definition has them.
fn steps(field: &str) -> Vec<String> {
    let parts = field.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
