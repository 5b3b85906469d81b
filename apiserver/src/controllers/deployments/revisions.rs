//! Finds or creates the replica set of the current template.

use serde_json::{Value, json};

use super::super::cluster::{DEPLOYMENTS, Fault, REPLICA_SETS};
use super::super::history::hash;
use super::super::owners::{controller_reference, is_controlled_by};
use super::annotations::{self, give_revision};
use super::{COMPONENT, Rollout, replicas};
use crate::meta::{self, map_at};

/// The label that distinguishes the pods of a deployment's templates.
const HASH: &str = "pod-template-hash";
fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    template
}

/// Reports whether two templates differ only in the hash in their labels.
pub(super) fn same_template(a: &Value, b: &Value) -> bool {
    without_hash(a) == without_hash(b)
}

impl Rollout<'_> {
    /// Updates the revision, and creates the current template's set if there is none and `make` is set.
    pub(super) async fn sync_revision(&mut self, make: bool) -> Result<(), Fault> {
        let last = self.old.iter().map(annotations::revision).max().unwrap_or(0);
        let next = last.saturating_add(1);
        match self.new.take() {
            Some(set) => self.new = Some(self.refresh(set, next).await?),
            None if make => self.make(next).await?,
            None => {}
        }
        Ok(())
    }

    /// Updates the annotations of the current set and of the deployment.
    async fn refresh(&mut self, set: Value, next: i64) -> Result<Value, Fault> {
        let mut wanted = set.clone();
        annotations::update(&self.deployment, &mut wanted, next, None);
        annotations::tidy(&mut wanted);
        let least = self.deployment["spec"]["minReadySeconds"].clone();
        if wanted["spec"]["minReadySeconds"] != least {
            wanted["spec"]["minReadySeconds"] = least;
        }
        if wanted != set {
            return self.cluster.update(REPLICA_SETS, &wanted).await;
        }
        let revised = give_revision(&mut self.deployment, &set);
        let found = format!("Found new replica set {:?}", meta::name(&set));
        let noted = self.note_progress_once("FoundNewReplicaSet", &found);
        if revised || noted {
            self.deployment = self.cluster.update_status(DEPLOYMENTS, &self.deployment).await?;
        }
        Ok(set)
    }

    async fn make(&mut self, next: i64) -> Result<(), Fault> {
        let mut set = self.described();
        let (surge, _) = self.limits();
        set["spec"]["replicas"] = self.room_for_new(0).into();
        annotations::update(&self.deployment, &mut set, next, Some((self.wanted(), self.wanted() + surge)));
        let namespace = meta::namespace(&self.deployment).to_owned();
        let made = match self.cluster.create(REPLICA_SETS, &namespace, &set).await {
            Err(fault) if fault.code == 409 => return self.collided(&set, fault).await,
            made => made?,
        };
        let (name, size) = (meta::name(&made), replicas(&made));
        if size > 0 {
            let message = format!("Scaled up replica set {name} from 0 to {size}");
            self.cluster.tell(COMPONENT, &self.deployment, "ScalingReplicaSet", &message).await;
        }
        let text = format!("Created new replica set {name:?}");
        give_revision(&mut self.deployment, &made);
        self.note_progress("NewReplicaSetCreated", &text, true);
        self.deployment = self.cluster.update_status(DEPLOYMENTS, &self.deployment).await?;
        self.new = Some(made);
        Ok(())
    }

    /// Builds the set of the current template, without its size.
    fn described(&self) -> Value {
        let spec = &self.deployment["spec"];
        let mut template = spec["template"].clone();
        let hash = hash(&template, self.deployment["status"]["collisionCount"].as_u64());
        let mut selector = spec["selector"].clone();
        map_at(&mut selector, "matchLabels").insert(HASH.to_owned(), hash.clone().into());
        map_at(&mut template["metadata"], "labels").insert(HASH.to_owned(), hash.clone().into());
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": format!("{}-{hash}", meta::name(&self.deployment)),
                "namespace": meta::namespace(&self.deployment), "labels": template["metadata"]["labels"],
                "ownerReferences": [controller_reference(&self.deployment, DEPLOYMENTS)],
            },
            "spec": {"selector": selector, "template": template, "minReadySeconds": spec["minReadySeconds"]},
        })
    }

    /// Handles a name that is taken: by the set itself after a race, or by a set of another template.
    async fn collided(&mut self, set: &Value, fault: Fault) -> Result<(), Fault> {
        let key = format!("{}/{}", meta::namespace(set), meta::name(set));
        let Some(taken) = self.cluster.get(REPLICA_SETS, &key) else { return Err(fault) };
        let ours = is_controlled_by(&taken.value, &self.deployment);
        if !(ours && same_template(&taken.value["spec"]["template"], &set["spec"]["template"])) {
            let count = self.deployment["status"]["collisionCount"].as_u64().unwrap_or(0) + 1;
            self.deployment["status"]["collisionCount"] = count.into();
            self.cluster.update_status(DEPLOYMENTS, &self.deployment).await?;
        }
        Err(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_equal_when_only_the_hash_label_differs() {
        let labelled = json!({"metadata": {"labels": {"a": "b", HASH: "x"}}});
        assert!(same_template(&labelled, &json!({"metadata": {"labels": {"a": "b"}}})));
        assert!(!same_template(&labelled, &json!({"metadata": {"labels": {"a": "c"}}})));
    }
}
