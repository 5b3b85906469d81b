//! The fields that writes have changed, for stories and for writes that never end.
//!
//! A run records versions only. The server's history has the objects, which are read if somebody asks.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::sim::Step;
use super::state::{Names, scrub};
use super::world::World;
use crate::fake::Action;

/// The limits of the fields in a line, of the text of a value, and of the lines in a story.
const MOST_FIELDS: usize = 4;
const MOST_TEXT: usize = 40;
const MOST_LINES: usize = 300;

/// Fields that the server sets, and those that the story's line names.
const LEFT_OUT: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata.name",
    "metadata.generateName",
    "metadata.namespace",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.managedFields",
    "metadata.selfLink",
];

/// A write that has changed an object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) at: Duration,
    /// The request, without random parts, and the process, if it is not a user's.
    pub(super) label: String,
    pub(super) process: Option<usize>,
    /// Its line in the story.
    line: Option<usize>,
    collection: String,
    pub(super) name: String,
    /// The server's versions before and after it.
    before: u64,
    after: u64,
    /// Whether it has changed ignored fields only, once somebody has looked.
    pub(super) is_ignored: Option<bool>,
}

/// A field with its values before and after a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) path: String,
    before: Option<String>,
    after: Option<String>,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        write!(f, "{}: {} → {}", self.path, text(&self.before), text(&self.after))
    }
}

/// Reports whether a path is one of `prefix` or below it.
fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns the fields in which two forms of an object differ.
fn fields_between(before: &Value, after: &Value, names: &Names) -> Vec<Field> {
    let mut fields = Vec::new();
    add_fields("", before, after, names, &mut fields);
    fields
}

fn add_fields(path: &str, before: &Value, after: &Value, names: &Names, out: &mut Vec<Field>) {
    let none = json!({});
    match (before, after) {
        (before, after) if before == after || LEFT_OUT.contains(&path) => {}
        (Value::Object(one), Value::Object(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(added) {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                add_fields(&below, &before[key], &after[key], names, out);
            }
        }
        (Value::Null, Value::Object(_)) => add_fields(path, &none, after, names, out),
        (Value::Object(_), Value::Null) => add_fields(path, before, &none, names, out),
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (i, (before, after)) in one.iter().zip(other).enumerate() {
                add_fields(&format!("{path}[{i}]"), before, after, names, out);
            }
        }
        _ => {
            let (before, after) = (text(before, names), text(after, names));
            out.push(Field { path: path.to_owned(), before, after });
        }
    }
}

fn text(value: &Value, names: &Names) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => scrub(text, names),
        other => scrub(&other.to_string(), names),
    };
    // A text of several lines would look like several fields.
    let text = text.replace('\n', " ");
    Some(match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    })
}

/// Returns the collection of the object that a request writes; `None` for other requests.
fn collection_of(action: &Action) -> Option<&str> {
    let (path, below) = (action.path(), action.subresource());
    match (action.verb(), below) {
        ("create", "") => Some(path),
        ("create" | "deletecollection", _) => None,
        (_, "") => path.strip_suffix(action.name())?.strip_suffix('/'),
        _ => path.strip_suffix(below)?.strip_suffix('/')?.strip_suffix(action.name())?.strip_suffix('/'),
    }
}

impl World {
    /// Records a write that has changed an object since a version, after its line in the story. The server has answered with
    /// the object.
    pub(super) fn note_change(
        &mut self,
        process: usize,
        action: &Action,
        label: &str,
        object: &Value,
        before: u64,
    ) {
        let Some(collection) = collection_of(action) else { return };
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let name = if action.name().is_empty() { text("name") } else { action.name() };
        // The server's controllers may have changed the object since, or deleted it.
        let after = text("resourceVersion").parse().ok().filter(|version| *version > before);
        self.changes_of_objects.push(Change {
            at: self.now,
            label: label.to_owned(),
            process: Some(process),
            line: self.line_with(label),
            collection: collection.to_owned(),
            name: name.to_owned(),
            before,
            after: after.unwrap_or_else(|| self.cluster.objects().version()),
            is_ignored: None,
        });
    }

    /// Records what a user has applied since a version. The story ends with a line about each object.
    pub(super) fn note_applied(&mut self, step: &Step, before: u64) {
        let Step::Apply(all) = step else { return };
        for (i, object) in all.iter().enumerate() {
            let Ok(path) = self.cluster.objects().path(object) else { continue };
            let Some((collection, name)) = path.rsplit_once('/') else { continue };
            let line = self.story.len().checked_sub(all.len()).map(|first| first + i);
            self.changes_of_objects.push(Change {
                at: self.now,
                label: format!("apply {path}"),
                process: None,
                line: line.filter(|line| self.story[*line].contains(&path)),
                collection: collection.to_owned(),
                name: name.to_owned(),
                before,
                after: self.cluster.objects().version(),
                is_ignored: None,
            });
        }
    }

    /// Returns the last line of the story, if it is about this request: a long story has an end.
    fn line_with(&self, label: &str) -> Option<usize> {
        let line = self.story.len().checked_sub(1)?;
        self.story[line].contains(label).then_some(line)
    }

    /// Returns the fields that a write has changed. Those of a deleted object are left out.
    fn fields_of(&self, change: &Change) -> (String, Vec<Field>) {
        let at = |version| self.cluster.at(&change.collection, &change.name, version).unwrap_or_default();
        let after = at(change.after);
        if after.is_null() {
            return (String::new(), Vec::new());
        }
        let kind = after["kind"].as_str().unwrap_or_default().to_owned();
        (kind, fields_between(&at(change.before), &after, &self.names))
    }

    /// Reports whether a write has created its object.
    pub(super) fn is_creation(&self, change: &Change) -> bool {
        self.cluster.at(&change.collection, &change.name, change.before).is_none()
    }

    /// Returns the fields that a write has changed, without those that the scenario ignores.
    pub(super) fn compared_fields_of(&self, change: &Change) -> (String, Vec<Field>) {
        let (kind, mut fields) = self.fields_of(change);
        let ignored = |field: &Field| {
            let mut all = self.spec.ignored.iter();
            all.any(|(of, path)| *of == kind && is_below(&field.path, path))
        };
        fields.retain(|field| !ignored(field));
        (kind, fields)
    }

    /// Returns what the writes have changed, each with its line in the story.
    pub(super) fn told_changes(&self) -> BTreeMap<usize, String> {
        let changes = self.changes_of_objects.iter().take(MOST_LINES);
        let told = changes.filter_map(|change| {
            let (_, fields) = self.fields_of(change);
            (!fields.is_empty()).then_some((change.line?, shown(&fields)))
        });
        told.collect()
    }
}

/// Returns a text of some fields.
fn shown(fields: &[Field]) -> String {
    let more = fields.len().saturating_sub(MOST_FIELDS);
    let more = (more > 0).then(|| format!("and {more} more"));
    let first = fields.iter().take(MOST_FIELDS).map(ToString::to_string);
    first.chain(more).collect::<Vec<_>>().join("; ")
}

/// Puts what writes have changed below the lines of a story.
pub(super) fn with_changes(story: &[String], changes: &BTreeMap<usize, String>) -> Vec<String> {
    let lines = story.iter().enumerate().flat_map(|(i, line)| {
        let below = changes.get(&i).map(|text| format!("{:>14}{text}", ""));
        std::iter::once(line.clone()).chain(below)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_fields_have_their_values() {
        let before = json!({
            "kind": "A", "metadata": {"name": "a", "resourceVersion": "1", "labels": {"x": "1"}},
            "spec": {"size": 1, "list": [1, 2], "items": [{"a": 1}]},
        });
        let after = json!({
            "kind": "A", "metadata": {"name": "a", "resourceVersion": "2"},
            "spec": {"size": 2, "list": [1], "items": [{"a": 2}], "text": "a\nb".repeat(30)},
            "status": {"at": "2026-01-01T00:00:00Z"},
        });
        let fields: Vec<String> =
            fields_between(&before, &after, &Names::new()).iter().map(ToString::to_string).collect();
        assert_eq!(
            fields,
            [
                "metadata.labels.x: 1 → nothing",
                "spec.items[0].a: 1 → 2",
                "spec.list: [1,2] → [1]",
                "spec.size: 1 → 2",
                "spec.text: nothing → a ba ba ba ba ba ba ba ba ba ba ba ba ba...",
                "status.at: nothing → <time>",
            ]
        );
        assert!(is_below("status.list[1].at", "status.list") && !is_below("status.lists", "status.list"));
    }

    #[test]
    fn story_has_changes_below_its_lines() {
        let story = ["    0.000s  one".to_owned(), "    0.000s  two".to_owned()];
        let changes = BTreeMap::from([(0, "spec.size: 1 → 2".to_owned())]);
        assert_eq!(
            with_changes(&story, &changes),
            ["    0.000s  one", "              spec.size: 1 → 2", "    0.000s  two"]
        );
    }
}
