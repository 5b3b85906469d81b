//! Compares versions: whether they exist and are served, and their parts besides the schema.

use serde_json::Value;

use super::model::{Definition, Version};
use super::schema::{self, Place};
use super::{Change, ChangeCode, Ratchets};

/// Compares the versions of a definition.
pub(super) fn versions(old: &Definition, new: &Definition, changes: &mut Vec<Change>) {
    for before in &old.versions {
        match new.version(&before.name) {
            None => removed(old, before, changes),
            Some(after) => {
                let mut own = Collector { crd: &new.name, old: before, new: after, changes };
                serving(&mut own);
                // Clients cannot request an unserved version, and a schema that neither definition stores is unused.
                if before.served {
                    subresources(&mut own);
                    selectable_fields(&mut own);
                    columns(&mut own);
                }
                if before.served || before.storage || old.stored.contains(&before.name) {
                    let place = Place { crd: &new.name, version: &before.name };
                    schema::compare(place, &before.schema, &after.schema, changes);
                }
            }
        }
    }
    for after in new.versions.iter().filter(|after| old.version(&after.name).is_none()) {
        let mut own = Collector { crd: &new.name, old: after, new: after, changes };
        own.add(ChangeCode::VersionAdded, "", "the version is new");
    }
}

fn removed(old: &Definition, gone: &Version, changes: &mut Vec<Change>) {
    let mut own = Collector { crd: &old.name, old: gone, new: gone, changes };
    let (code, message) = if gone.storage {
        (ChangeCode::StoredVersionRemoved, "the version is gone, and objects are stored in it")
    } else if old.stored.contains(&gone.name) {
        (ChangeCode::StoredVersionRemoved, "the version is gone, and status.storedVersions names it")
    } else if gone.served {
        (ChangeCode::VersionRemoved, "the version is gone, and it was served")
    } else {
        (ChangeCode::UnservedVersionRemoved, "the version is gone; it was not served")
    };
    own.add(code, "", message);
}

/// Collects changes of a version outside of its schema.
struct Collector<'a> {
    crd: &'a str,
    old: &'a Version,
    new: &'a Version,
    changes: &'a mut Vec<Change>,
}

impl Collector<'_> {
    /// `below` is the path in the version.
    fn add(&mut self, code: ChangeCode, below: &str, message: impl Into<String>) {
        let version = self.new;
        let mut steps = vec!["spec".to_owned(), "versions".to_owned(), version.name.clone()];
        steps.extend(below.split('.').filter(|step| !step.is_empty()).map(str::to_owned));
        let dot = if below.is_empty() { "" } else { "." };
        self.changes.push(Change {
            crd: self.crd.to_owned(),
            version: Some(version.name.clone()),
            path: format!("spec.versions[{}]{dot}{below}", version.name),
            code,
            certain: true,
            ratchets: Ratchets::Never,
            message: message.into(),
            steps,
        });
    }
}

fn serving(own: &mut Collector<'_>) {
    match (own.old.served, own.new.served) {
        (true, false) => own.add(ChangeCode::VersionUnserved, "served", "the version is not served any more"),
        (false, true) => own.add(ChangeCode::VersionServed, "served", "the version is served now"),
        _ => {}
    }
    let deprecated = |version: &Version| version.value["deprecated"] == Value::Bool(true);
    let warning = |version: &Version| version.value.get("deprecationWarning").cloned();
    match (deprecated(own.old), deprecated(own.new)) {
        (false, true) => own.add(ChangeCode::VersionDeprecated, "deprecated", "the version is deprecated"),
        (true, false) => {
            let message = "the version is not deprecated any more";
            own.add(ChangeCode::VersionUndeprecated, "deprecated", message);
        }
        (true, true) if warning(own.old) != warning(own.new) => {
            let message = "the warning has changed";
            own.add(ChangeCode::DeprecationWarningChanged, "deprecationWarning", message);
        }
        _ => {}
    }
}

fn subresources(own: &mut Collector<'_>) {
    let find =
        |version: &Version, name: &str| version.value.pointer(&format!("/subresources/{name}")).cloned();
    let path = "subresources.status";
    match (find(own.old, "status"), find(own.new, "status")) {
        (None, Some(_)) => {
            own.add(ChangeCode::StatusSubresourceAdded, path, "status is a subresource now");
        }
        (Some(_), None) => {
            let message = "status is not a subresource any more";
            own.add(ChangeCode::StatusSubresourceRemoved, path, message);
        }
        _ => {}
    }
    let path = "subresources.scale";
    match (find(own.old, "scale"), find(own.new, "scale")) {
        (None, Some(_)) => own.add(ChangeCode::ScaleSubresourceAdded, path, "objects can be scaled"),
        (Some(_), None) => {
            let message = "objects cannot be scaled any more";
            own.add(ChangeCode::ScaleSubresourceRemoved, path, message);
        }
        (Some(old), Some(new)) if old != new => {
            let names = ["specReplicasPath", "statusReplicasPath", "labelSelectorPath"];
            let differs = names.into_iter().filter(|name| old.get(name) != new.get(name));
            let shown = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("none").to_owned();
            let parts = differs
                .map(|name| format!("{name}: `{}` became `{}`", shown(old.get(name)), shown(new.get(name))));
            let message = parts.collect::<Vec<_>>().join(", ");
            let selector = "labelSelectorPath";
            let is_added = old.get(selector).is_none()
                && names.iter().all(|name| *name == selector || old.get(name) == new.get(name));
            let code = match is_added {
                true => ChangeCode::ScaleSelectorAdded,
                false => ChangeCode::ScaleSubresourceChanged,
            };
            own.add(code, path, message);
        }
        _ => {}
    }
}

fn columns(own: &mut Collector<'_>) {
    let columns = |version: &Version| version.value.get("additionalPrinterColumns").cloned();
    if columns(own.old) != columns(own.new) {
        own.add(ChangeCode::ColumnsChanged, "additionalPrinterColumns", "kubectl shows other columns");
    }
}

fn selectable_fields(own: &mut Collector<'_>) {
    let paths = |version: &Version| -> Vec<String> {
        let list = version.value["selectableFields"].as_array();
        list.into_iter().flatten().filter_map(|field| Some(field["jsonPath"].as_str()?.to_owned())).collect()
    };
    let (old, new) = (paths(own.old), paths(own.new));
    for path in old.iter().filter(|path| !new.contains(path)) {
        let message = format!("`{path}` cannot be selected by any more");
        own.add(ChangeCode::SelectableFieldRemoved, "selectableFields", message);
    }
    for path in new.iter().filter(|path| !old.contains(path)) {
        let message = format!("`{path}` can be selected by");
        own.add(ChangeCode::SelectableFieldAdded, "selectableFields", message);
    }
}
