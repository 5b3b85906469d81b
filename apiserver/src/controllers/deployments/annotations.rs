//! The annotations that a deployment writes into its replica sets.

use serde_json::{Value, json};

use crate::meta::{self, map_at};

/// The number of the template among all that the deployment has had.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// Earlier revisions of a set, after rollbacks.
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The deployment's size at the last scaling of the set.
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// The deployment's largest size at the last scaling of the set.
pub(super) const MAX: &str = "deployment.kubernetes.io/max-replicas";

/// Annotations of a deployment that its replica sets do not get.
const OWN: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MAX,
    "deprecated.deployment.rollback.to",
];

fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][key].as_str()
}

pub(super) fn number(object: &Value, key: &str) -> Option<i64> {
    annotation(object, key)?.parse().ok()
}

/// Returns the revision of a set; 0 when it has none.
pub(super) fn revision(set: &Value) -> i64 {
    number(set, REVISION).unwrap_or(0)
}

fn set(object: &mut Value, key: &str, value: String) {
    map_at(&mut object["metadata"], "annotations").insert(key.to_owned(), value.into());
}

/// Updates the annotations of the current template's set; sizes are written to new sets only.
pub(super) fn update(deployment: &Value, replica_set: &mut Value, next: i64, sizes: Option<(i64, i64)>) {
    for (key, value) in deployment["metadata"]["annotations"].as_object().into_iter().flatten() {
        if !OWN.contains(&key.as_str()) {
            map_at(&mut replica_set["metadata"], "annotations").insert(key.clone(), value.clone());
        }
    }
    let before = annotation(replica_set, REVISION).map(str::to_owned);
    if revision(replica_set) < next {
        set(replica_set, REVISION, next.to_string());
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            let history = annotation(replica_set, HISTORY).map(|history| format!("{history},{before}"));
            set(replica_set, HISTORY, history.unwrap_or(before));
        }
    }
    if let Some((desired, most)) = sizes {
        set_sizes(replica_set, desired, most);
    }
}

/// Writes the deployment's sizes to a set.
pub(super) fn set_sizes(replica_set: &mut Value, desired: i64, most: i64) {
    set(replica_set, DESIRED, desired.to_string());
    set(replica_set, MAX, most.to_string());
}

/// Copies the revision of its current set to a deployment; returns whether that changed it.
pub(super) fn give_revision(deployment: &mut Value, replica_set: &Value) -> bool {
    let Some(revision) = annotation(replica_set, REVISION).map(str::to_owned) else { return false };
    if annotation(deployment, REVISION) == Some(&revision) {
        return false;
    }
    set(deployment, REVISION, revision);
    true
}

/// Removes an empty map of annotations.
pub(super) fn tidy(object: &mut Value) {
    if object["metadata"]["annotations"] == json!({}) {
        meta::remove(object, "annotations");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replica_set_keeps_revision_history_after_rollback() {
        let deployment = json!({"metadata": {"annotations": {"a": "1", REVISION: "9"}}});
        let mut set = json!({"metadata": {}});
        update(&deployment, &mut set, 1, Some((3, 4)));
        assert_eq!(set["metadata"]["annotations"], json!({"a": "1", REVISION: "1", DESIRED: "3", MAX: "4"}));
        update(&deployment, &mut set, 3, None);
        update(&deployment, &mut set, 5, None);
        assert_eq!((annotation(&set, REVISION), annotation(&set, HISTORY)), (Some("5"), Some("1,3")));
        update(&deployment, &mut set, 4, None);
        assert_eq!(revision(&set), 5, "a revision never goes back");
    }
}
