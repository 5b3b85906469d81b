//! Compares whole definitions: their names, scope, conversion and versions.

use std::collections::BTreeSet;

use super::model::{Definition, Definitions};
use super::{Change, ChangeCode, Ratchets, diverge, refused, version};

/// Returns the changes from one set of definitions to another, ordered by definition, version, path and code.
pub fn compare(old: &Definitions, new: &Definitions) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut moved = BTreeSet::new();
    for (name, gone) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
        let successor = new.values().filter(|found| !old.contains_key(&found.name));
        let successor = successor.into_iter().find(|found| is_successor(gone, found));
        moved.extend(successor.map(|found| found.name.clone()));
        changes.push(without(name, gone, successor));
    }
    for found in new.values().filter(|found| !old.contains_key(&found.name) && !moved.contains(&found.name)) {
        let mut own = Collector::new(&found.name, &mut changes);
        own.add(ChangeCode::DefinitionAdded, "metadata.name", "the definition is new");
    }
    for (old, new) in old.iter().filter_map(|(name, old)| Some((old, new.get(name)?))) {
        let mut own = Vec::new();
        both(old, new, &mut own);
        refused::check(old, new, &mut own);
        changes.append(&mut own);
    }
    changes.sort_by(|a, b| {
        (&a.crd, &a.version, &a.path, a.code, &a.message)
            .cmp(&(&b.crd, &b.version, &b.path, b.code, &b.message))
    });
    changes.dedup();
    changes
}

/// Reports whether a definition is the other one under another name.
fn is_successor(gone: &Definition, found: &Definition) -> bool {
    let same = |path| gone.text(path) == found.text(path);
    same("/spec/names/kind") && (same("/spec/group") || same("/spec/names/plural"))
}

fn without(name: &str, gone: &Definition, successor: Option<&Definition>) -> Change {
    let (code, path, message) = match successor {
        None => (ChangeCode::DefinitionRemoved, "metadata.name", "the definition is gone".to_owned()),
        Some(found) if gone.text("/spec/group") == found.text("/spec/group") => {
            let message = format!("the plural is `{}`", found.text("/spec/names/plural"));
            (ChangeCode::PluralChanged, "spec.names.plural", message)
        }
        Some(found) => {
            let message = format!("the group is `{}`", found.text("/spec/group"));
            (ChangeCode::GroupChanged, "spec.group", message)
        }
    };
    Change {
        crd: name.to_owned(),
        version: None,
        path: path.to_owned(),
        code,
        certain: true,
        ratchets: Ratchets::Never,
        message,
        steps: path.split('.').map(str::to_owned).collect(),
    }
}

/// Collects changes of a definition as a whole.
struct Collector<'a> {
    crd: &'a str,
    changes: &'a mut Vec<Change>,
}

impl<'a> Collector<'a> {
    fn new(crd: &'a str, changes: &'a mut Vec<Change>) -> Self {
        Self { crd, changes }
    }

    fn add(&mut self, code: ChangeCode, path: &str, message: impl Into<String>) {
        self.changes.push(Change {
            crd: self.crd.to_owned(),
            version: None,
            path: path.to_owned(),
            code,
            certain: true,
            ratchets: Ratchets::Never,
            message: message.into(),
            steps: path.split('.').map(str::to_owned).collect(),
        });
    }
}

fn both(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    let mut own = Collector::new(&new.name, changes);
    names(old, new, &mut own);
    conversion(old, new, &mut own);
    let (before, after) = (storage(old), storage(new));
    if before != after && new.version(before).is_some() && !after.is_empty() {
        let message = format!("objects are stored in {after} instead of {before}");
        own.add(ChangeCode::StorageVersionChanged, "spec.versions", message);
    }
    version::versions(old, new, changes);
    diverge::check(old, new, changes);
}

fn storage(definition: &Definition) -> &str {
    definition.storage().map_or("", |version| &version.name)
}

fn names(old: &Definition, new: &Definition, own: &mut Collector<'_>) {
    let fixed = [
        ("spec.scope", ChangeCode::ScopeChanged),
        ("spec.names.kind", ChangeCode::KindChanged),
        ("spec.names.listKind", ChangeCode::ListKindChanged),
        ("spec.names.singular", ChangeCode::SingularChanged),
    ];
    let kind_changed = old.text("/spec/names/kind") != new.text("/spec/names/kind");
    for (path, code) in fixed {
        let pointer = format!("/{}", path.replace('.', "/"));
        let (before, after) = (old.text(&pointer), new.text(&pointer));
        // They follow from the kind unless set.
        let follows =
            kind_changed && matches!(code, ChangeCode::ListKindChanged | ChangeCode::SingularChanged);
        if before != after && !follows {
            own.add(code, path, format!("`{before}` became `{after}`"));
        }
    }
    let lists = [
        ("spec.names.shortNames", ChangeCode::ShortNameRemoved, ChangeCode::ShortNameAdded),
        ("spec.names.categories", ChangeCode::CategoryRemoved, ChangeCode::CategoryAdded),
    ];
    for (path, removed, added) in lists {
        let pointer = format!("/{}", path.replace('.', "/"));
        let (before, after) = (old.texts(&pointer), new.texts(&pointer));
        for name in before.iter().filter(|name| !after.contains(name)) {
            own.add(removed, path, format!("`{name}` is gone"));
        }
        for name in after.iter().filter(|name| !before.contains(name)) {
            own.add(added, path, format!("`{name}` is new"));
        }
    }
}

fn conversion(old: &Definition, new: &Definition, own: &mut Collector<'_>) {
    let path = "spec.conversion";
    match (old.has_webhook(), new.has_webhook()) {
        (false, true) => {
            own.add(ChangeCode::ConversionWebhookAdded, path, "a webhook converts between versions");
        }
        (true, false) if new.versions.len() > 1 => {
            let message = "the strategy is `None`: only apiVersion is changed";
            own.add(ChangeCode::ConversionWebhookRemoved, path, message);
        }
        (true, false) => {
            let message = "the webhook is gone; there is one version, so that nothing is converted";
            own.add(ChangeCode::ConversionWebhookChanged, path, message);
        }
        _ if old.object.pointer("/spec/conversion") != new.object.pointer("/spec/conversion") => {
            let message = "the webhook's configuration has changed";
            own.add(ChangeCode::ConversionWebhookChanged, path, message);
        }
        _ => {}
    }
}
