//! Compares runs without a fault between them: one that has seen all steps with one that begins late, and repetitions.

use std::collections::BTreeMap;

use super::state::{Mask, State};

/// Kinds whose objects stay for their own sake: data, and what ran to its end.
const KEPT: &[&str] = &["PersistentVolumeClaim", "Job", "Pod", "ReplicaSet", "ControllerRevision"];

/// Returns the objects that exist although an operator that sees only the present form of their owners makes none. Instead of
/// an owner, a label or the name may tell whose they are, if they do not outlive it: `end` is the state after its deletion.
pub(super) fn outdated(late: &State, found: &State, end: &State, mask: &Mask) -> Vec<String> {
    let left = mask.left_over(late, found);
    let is_kept = |key: &String| KEPT.contains(&key.split(' ').next().unwrap_or_default());
    let deleted = |key: &&String| !end.contains_key(*key);
    // An operator that numbers objects may have given another number.
    let is_addition = |key: &str| {
        let kind = key.split(' ').next().unwrap_or_default();
        late.keys()
            .filter(|other| other.split(' ').next() == Some(kind))
            .all(|other| found.contains_key(other))
    };
    let is_part = |key: &&&String| {
        let is_whole =
            |root: &&String| found.get(**key).is_some_and(|fields| names(key, fields, name_of(root)));
        deleted(key) && is_addition(key) && late.keys().filter(deleted).any(|root| is_whole(&root))
    };
    let is_owned = |key: &&&String| {
        let owners = found.get(**key).and_then(|fields| fields.get("metadata.ownerReferences"));
        let is_owner = |owner: &String| {
            let (kind, name) = owner.split_once(' ').unwrap_or_default();
            let name = name.rsplit('/').next().unwrap_or_default();
            // The fields of a reference are sorted, and the UID is left out.
            owners.is_some_and(|owners| owners.contains(&format!("kind: {kind}, name: {name}}}")))
        };
        late.keys().any(is_owner)
    };
    let left = left.iter().filter(|key| !is_kept(key) && (is_owned(key) || is_part(key)));
    left.map(|key| (*key).clone()).collect()
}

fn name_of(key: &str) -> &str {
    key.rsplit([' ', '/']).next().unwrap_or_default()
}

/// Reports whether an object's name begins with another's, or a label or an annotation is that name.
fn names(key: &str, fields: &BTreeMap<String, String>, root: &str) -> bool {
    let is_mark =
        |path: &str| path.starts_with("metadata.labels.") || path.starts_with("metadata.annotations.");
    name_of(key).strip_prefix(root).is_some_and(|rest| rest.starts_with('-'))
        || fields.iter().any(|(path, value)| is_mark(path) && value == root)
}

/// Returns the first line in which two runs of one schedule differ, with the likely cause.
pub(super) fn difference(story: &[String], other: &[String]) -> Option<String> {
    match story.iter().zip(other).find(|(one, other)| one != other) {
        Some((one, other_line)) => {
            let cause = cause_of_divergence(story, other);
            Some(format!("one run has\n  {one}\nwhere another has\n  {other_line}\n{cause}"))
        }
        None if story.len() == other.len() => None,
        None => {
            Some(format!("one run goes on after {} lines where another ends", story.len().min(other.len())))
        }
    }
}

/// Returns the likely cause why two runs of one schedule differ, from their stories.
fn cause_of_divergence(one: &[String], other: &[String]) -> &'static str {
    // The times are ignored.
    let sorted = |story: &[String]| {
        let mut lines: Vec<String> = story
            .iter()
            .map(|line| line.split_once("  ").map_or(line.as_str(), |(_, text)| text).trim().to_owned())
            .collect();
        lines.sort();
        lines
    };
    let times = |story: &[String]| -> Vec<String> {
        story.iter().map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    };
    let (lines, others) = (sorted(one), sorted(other));
    let mut balance: BTreeMap<&String, isize> = BTreeMap::new();
    lines.iter().for_each(|line| *balance.entry(line).or_default() += 1);
    others.iter().for_each(|line| *balance.entry(line).or_default() -= 1);
    let differing: usize = balance.values().map(|count| count.unsigned_abs()).sum();
    match () {
        () if lines == others && times(one) == times(other) => {
            "the same things happen in another order, as by the order of a HashMap or by a branch of tokio::select!"
        }
        () if lines == others => "the same things happen at other times, as by random pauses",
        () if differing * 4 < lines.len() + others.len() => {
            "most of what happens is the same: something in the operator is random, or goes by the machine's clock"
        }
        () => {
            "the runs go different ways: the order of a HashMap, tokio::select!, random numbers or the machine's clock decide"
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::explore::state::{Names, normalise};

    fn owned(name: &str, owner: &str) -> Value {
        let reference = json!({"apiVersion": "a.example/v1", "kind": "Site", "name": owner, "uid": "u", "controller": true,
            "blockOwnerDeletion": true});
        json!({"kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": [reference]}})
    }

    #[test]
    fn only_the_remains_of_an_owner_that_exists_are_outdated() {
        let state = |objects: &[Value]| normalise(objects.iter().map(|object| (object, true)), &Names::new());
        let site = json!({"kind": "Site", "metadata": {"name": "web"}});
        let late = state(std::slice::from_ref(&site));
        let found = state(&[site, owned("old", "web"), owned("other", "web-2")]);
        assert_eq!(outdated(&late, &found, &found, &Mask::default()), ["ConfigMap old"]);
    }

    #[test]
    fn remains_without_an_owner_are_outdated_unless_they_outlive_the_custom_resource() {
        let state = |objects: &[Value]| normalise(objects.iter().map(|object| (object, true)), &Names::new());
        let map = |name: &str, of: &str| json!({"kind": "ConfigMap", "metadata": {"name": name, "labels": {"of": of}}});
        let site = json!({"kind": "Site", "metadata": {"name": "web"}});
        let late = state(&[site.clone(), map("web-0", "web")]);
        let all = [
            site,
            map("web-0", "web"),
            map("web-1", ""),
            map("old", "web"),
            map("webs-1", ""),
            map("kept", "web"),
        ];
        let end = state(&[map("kept", "web")]);
        let found = state(&all);
        assert_eq!(outdated(&late, &found, &end, &Mask::default()), ["ConfigMap old", "ConfigMap web-1"]);
        // It has another number.
        let found = state(&[all[0].clone(), map("web-1", "web")]);
        assert_eq!(outdated(&late, &found, &end, &Mask::default()), Vec::<String>::new());
    }
}
