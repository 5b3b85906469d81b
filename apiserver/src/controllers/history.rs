//! Revisions of the templates of stateful and daemon sets, which are stored as objects.
//!
//! Source: `pkg/controller/history/controller_history.go`. Only the hash of a template differs, since upstream's
//! depends on how Go prints structures.

use serde_json::{Value, json};

use super::cluster::{Cluster, Fault, REVISIONS, Resource, unless_gone};
use super::owners::{claim, controller_reference, is_controlled_by};
use crate::meta::{self, map_at};

/// The letters of hashes: no vowels and no look-alikes (apimachinery's `rand.SafeEncodeString`).
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// The limit of attempts at a name that is not taken.
const COLLISIONS: u64 = 100;

/// Returns a short hash of a template.
pub(super) fn hash(template: &Value, collisions: Option<u64>) -> String {
    // 32-bit FNV-1a.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let mut sum = template.to_string().bytes().fold(2_166_136_261, step);
    if let Some(collisions) = collisions {
        sum = collisions.to_le_bytes().into_iter().fold(sum, step);
    }
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    sum.to_string().bytes().map(letter).collect()
}

/// The revisions of a set.
pub(super) struct History<'a> {
    cluster: &'a Cluster,
    set: &'a Value,
    /// The oldest first.
    revisions: Vec<Value>,
    /// The number of names that were taken by others.
    pub(super) collisions: u64,
}

impl<'a> History<'a> {
    pub(super) async fn of(cluster: &'a Cluster, set: &'a Value, kind: Resource) -> Result<Self, Fault> {
        let mut revisions = claim(cluster, REVISIONS, set, kind, |_| true).await?;
        revisions.sort_by_key(|revision| (number(revision), meta::name(revision).to_owned()));
        let collisions = set["status"]["collisionCount"].as_u64().unwrap_or(0);
        Ok(Self { cluster, set, revisions, collisions })
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.revisions.iter().find(|revision| meta::name(revision) == name)
    }

    /// Returns the revision of the current template: the last one, an earlier one after a rollback, or a new one.
    /// `label` is the one with the revision's hash.
    pub(super) async fn present(&mut self, kind: Resource, label: &str) -> Result<Value, Fault> {
        let data = data(self.set);
        let next = self.revisions.last().map_or(0, number).saturating_add(1);
        let same = self.revisions.iter().rposition(|revision| revision["data"] == data);
        let revision = match same {
            Some(at) if at + 1 == self.revisions.len() => return Ok(self.revisions[at].clone()),
            Some(at) => {
                let mut revision = self.revisions.remove(at);
                revision["revision"] = next.into();
                self.cluster.update(REVISIONS, &revision).await?
            }
            None => self.create(kind, label, &data, next).await?,
        };
        self.revisions.push(revision.clone());
        Ok(revision)
    }

    async fn create(
        &mut self,
        kind: Resource,
        label: &str,
        data: &Value,
        number: i64,
    ) -> Result<Value, Fault> {
        let set = self.set;
        let mut revision = json!({
            "metadata": {"namespace": meta::namespace(set), "labels": set["spec"]["template"]["metadata"]["labels"],
                         "ownerReferences": [controller_reference(set, kind)]},
            "data": data, "revision": number,
        });
        // For example the change cause, which `kubectl rollout history` shows.
        if !set["metadata"]["annotations"].is_null() {
            revision["metadata"]["annotations"] = set["metadata"]["annotations"].clone();
        }
        loop {
            let hash = hash(&set["spec"]["template"], Some(self.collisions));
            revision["metadata"]["name"] = format!("{}-{hash}", meta::name(set)).into();
            map_at(&mut revision["metadata"], "labels").insert(label.to_owned(), hash.into());
            let fault = match self.cluster.create(REVISIONS, meta::namespace(set), &revision).await {
                Err(fault) if fault.code == 409 && self.collisions < COLLISIONS => fault,
                made => return made,
            };
            let key = format!("{}/{}", meta::namespace(set), meta::name(&revision));
            let Some(taken) = self.cluster.get(REVISIONS, &key) else { return Err(fault) };
            if taken.value["data"] == *data && is_controlled_by(&taken.value, set) {
                return Ok(taken.value.clone());
            }
            self.collisions += 1;
        }
    }

    /// Deletes the oldest unused revisions beyond the history limit.
    pub(super) async fn clean_up(&self, in_use: impl Fn(&Value) -> bool) -> Result<(), Fault> {
        let kept = self.set["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
        let idle: Vec<&Value> = self.revisions.iter().filter(|revision| !in_use(revision)).collect();
        let surplus = idle.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
        for revision in idle.into_iter().take(surplus) {
            unless_gone(self.cluster.delete(REVISIONS, revision, json!({})).await)?;
        }
        Ok(())
    }
}

fn number(revision: &Value) -> i64 {
    revision["revision"].as_i64().unwrap_or(0)
}

/// Returns the patch that sets the template of a revision (`getPatch`).
fn data(set: &Value) -> Value {
    let mut template = set["spec"]["template"].clone();
    template["$patch"] = "replace".into();
    json!({"spec": {"template": template}})
}

/// Returns the template of a revision.
pub(super) fn template(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    meta::object_mut(&mut template).remove("$patch");
    template
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_differs_when_template_or_collision_count_differs() {
        let template = json!({"spec": {"containers": [{"image": "a"}]}});
        let text = hash(&template, None);
        assert!(text.len() >= 7 && text.bytes().all(|byte| LETTERS.contains(&byte)), "{text}");
        assert_eq!(hash(&template, None), text);
        assert_ne!(hash(&template, Some(1)), text);
        assert_ne!(hash(&json!({"spec": {"containers": [{"image": "b"}]}}), None), text);
    }
}
