//! The claims of a stateful set's pods: created with the pods, and owned according to the retention policy.
//!
//! Source: `pkg/controller/statefulset/stateful_pod_control.go` and `stateful_set_utils.go`.

use serde_json::{Value, json};

use super::super::cluster::{CLAIMS, Fault, PODS, STATEFUL_SETS};
use super::super::owners::controller_reference;
use super::Sync;
use crate::meta;

pub(super) fn templates(set: &Value) -> &[Value] {
    set["spec"]["volumeClaimTemplates"].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn name(set: &Value, template: &Value, ordinal: i64) -> String {
    format!("{}-{}-{ordinal}", meta::name(template), meta::name(set))
}

/// Reports whether a claim may belong to a set.
pub(super) fn is_of(set: &Value, claim: &str) -> bool {
    let prefix = |template: &Value| format!("{}-{}-", meta::name(template), meta::name(set));
    templates(set).iter().any(|template| {
        claim.strip_prefix(&prefix(template)).is_some_and(|ordinal| ordinal.parse::<u32>().is_ok())
    })
}

impl Sync<'_> {
    /// Creates the missing claims of a pod.
    pub(super) async fn ensure_claims(&self, ordinal: i64) -> Result<(), Fault> {
        let namespace = meta::namespace(self.set);
        for template in templates(self.set) {
            let name = name(self.set, template, ordinal);
            if let Some(stored) = self.cluster.get(CLAIMS, &format!("{namespace}/{name}")) {
                if meta::is_terminating(&stored.value) {
                    return Err(Fault::waiting(format!("claim {name} is being deleted")));
                }
                continue;
            }
            let mut labels = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
            labels
                .extend(self.set["spec"]["selector"]["matchLabels"].as_object().cloned().unwrap_or_default());
            let mut metadata = json!({"name": name, "namespace": namespace, "labels": labels});
            if !template["metadata"]["annotations"].is_null() {
                metadata["annotations"] = template["metadata"]["annotations"].clone();
            }
            if self.policy("whenDeleted") {
                metadata["ownerReferences"] = json!([controller_reference(self.set, STATEFUL_SETS)]);
            }
            let claim = json!({"metadata": metadata, "spec": template["spec"]});
            let made = self.cluster.create(CLAIMS, namespace, &claim).await;
            let set = meta::name(self.set);
            let what = format!("Claim {name} Pod {set}-{ordinal} in StatefulSet {set}");
            self.tell_created(&what, "success", made).await?;
        }
        Ok(())
    }

    /// Reports whether `persistentVolumeClaimRetentionPolicy` deletes claims in a case.
    fn policy(&self, case: &str) -> bool {
        self.set["spec"]["persistentVolumeClaimRetentionPolicy"][case] == "Delete"
    }

    /// Sets the owner whose deletion deletes a pod's claims (`updateClaimOwnerRefForSetAndPod`): the pod that is scaled
    /// away, or the set.
    pub(super) async fn own_claims(&self, pod: &Value, ordinal: i64, condemned: bool) -> Result<(), Fault> {
        let by_pod = condemned && self.policy("whenScaled");
        let by_set = self.policy("whenDeleted") && !by_pod;
        let namespace = meta::namespace(self.set);
        for template in templates(self.set) {
            let key = format!("{namespace}/{}", name(self.set, template, ordinal));
            let Some(stored) = self.cluster.get(CLAIMS, &key) else { continue };
            let claim = &stored.value;
            let had = claim["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
            let mut owners = had.clone();
            let ours = [meta::text(self.set, "uid"), meta::text(pod, "uid")];
            owners.retain(|owner| !ours.contains(&owner["uid"].as_str().unwrap_or_default()));
            if by_pod {
                owners.push(controller_reference(pod, PODS));
            } else if by_set {
                owners.push(controller_reference(self.set, STATEFUL_SETS));
            }
            if owners != had {
                let version = meta::text(claim, "resourceVersion");
                let patch = json!({"metadata": {"resourceVersion": version, "ownerReferences": owners}});
                self.cluster.patch(CLAIMS, claim, &patch).await?;
            }
        }
        Ok(())
    }
}
