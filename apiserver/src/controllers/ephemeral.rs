//! The claims of generic ephemeral volumes: kube-controller-manager's `pkg/controller/volume/ephemeral`.

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{CLAIMS, Cluster, Fault, PODS, unless_gone};
use super::owners::{controller_of, controller_reference, is_controlled_by};
use super::protection::{Used, uses_of};
use crate::meta;

pub(super) const WATCHES: &[&str] = &[PODS.collection, CLAIMS.collection];

/// The reporter of events.
const REPORTER: &str = "ephemeral_volume";

/// Returns the keys of pods: the pod itself, or those that a claim's name belongs to.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    let needs = |pod: &Value, name: Option<&str>| {
        uses_of(pod).any(|used| used.ephemeral.is_some() && name.is_none_or(|name| used.name == name))
    };
    if collection == PODS.collection {
        return if needs(object, None) { vec![key.to_owned()] } else { Vec::new() };
    }
    let namespace = meta::namespace(object);
    let pods = cluster.list_where(PODS, namespace, |pod| needs(pod, Some(meta::name(object))));
    pods.iter().map(|pod| format!("{namespace}/{}", meta::name(pod))).collect()
}

/// `syncHandler`.
pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let stored = cluster.get(PODS, key);
    if !cluster.server().options().controllers {
        collect(cluster, key, stored.as_ref().map_or("", |pod| meta::text(&pod.value, "uid"))).await?;
    }
    let Some(stored) = stored.filter(|pod| !meta::is_terminating(&pod.value)) else {
        return Ok(None);
    };
    let pod: &Value = &stored.value;
    for Used { name, ephemeral } in uses_of(pod) {
        let Some(volume) = ephemeral else { continue };
        let tell = |fault: &str| format!("ephemeral volume {}: {fault}", meta::member(volume, "name"));
        if let Some(claim) = cluster.get(CLAIMS, &format!("{}/{name}", meta::namespace(pod))) {
            if !is_controlled_by(&claim.value, pod) {
                // An event of the claim queues the pod again.
                cluster.warn(REPORTER, pod, "FailedBinding", &tell(&not_for(&claim.value, pod))).await;
                return Ok(None);
            }
        } else if let Err(fault) =
            create(cluster, pod, &name, &volume["ephemeral"]["volumeClaimTemplate"]).await
        {
            let text = tell(&format!("create PVC {name}: {}", fault.message()));
            cluster.warn(REPORTER, pod, "FailedBinding", &text).await;
            return Err(fault);
        }
    }
    Ok(None)
}

/// Deletes the claims of a former pod with this key, where no garbage collector runs. `uid` is the present pod's.
async fn collect(cluster: &Cluster, key: &str, uid: &str) -> Result<(), Fault> {
    let Some((namespace, name)) = key.split_once('/') else { return Ok(()) };
    let is_left = |claim: &Value| {
        let owner = controller_of(claim).filter(|owner| owner["kind"] == PODS.kind);
        owner.is_some_and(|owner| owner["name"] == *name && owner["uid"] != *uid)
            && !meta::is_terminating(claim)
    };
    for claim in cluster.list_where(CLAIMS, namespace, is_left) {
        unless_gone(cluster.delete(CLAIMS, &claim, json!({})).await)?;
    }
    Ok(())
}

async fn create(cluster: &Cluster, pod: &Value, name: &str, template: &Value) -> Result<(), Fault> {
    let metadata = json!({
        "name": name, "annotations": template["metadata"]["annotations"], "labels": template["metadata"]["labels"],
        "ownerReferences": [controller_reference(pod, PODS)],
    });
    let claim = json!({"metadata": metadata, "spec": template["spec"]});
    cluster.create(CLAIMS, meta::namespace(pod), &claim).await.map(drop)
}

/// The error about a claim with the name of an ephemeral volume's that belongs to nobody, or to another pod
/// (`VolumeIsForPod` of component-helpers' storage/ephemeral).
pub(super) fn not_for(claim: &Value, pod: &Value) -> String {
    let place = |object: &Value| format!("{}/{}", meta::namespace(object), meta::name(object));
    format!("PVC {} was not created for pod {} (pod is not owner)", place(claim), place(pod))
}
