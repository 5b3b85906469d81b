//! ResourceClaims: kube-controller-manager's `pkg/controller/resourceclaim`. It makes claims of templates for pods, and takes
//! back those of pods that are done. Nothing here allocates devices: that is left to the writer of the claim's status.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Outcome;
use super::cluster::{Cluster, Fault, PODS, RESOURCE_CLAIMS, RESOURCE_TEMPLATES, unless_gone};
use super::owners::{controller_of, controller_reference, is_controlled_by};
use super::pods::is_over;
use crate::meta::{self, member};
use crate::store::Object;

pub(super) const WATCHES: &[&str] =
    &[PODS.collection, RESOURCE_CLAIMS.collection, RESOURCE_TEMPLATES.collection];

/// The reporter of events.
const REPORTER: &str = "resource_claim";
/// The manager of the claims in a pod's status.
const MANAGER: &str = "ResourceClaimController";
/// The annotation of a claim with the name that the pod gives it (`PodResourceClaimAnnotation`).
const NAME_IN_POD: &str = "resource.kubernetes.io/pod-claim-name";
/// The finalizer of an allocated claim (`Finalizer` of k8s.io/api/resource).
const ALLOCATED: &str = "resource.kubernetes.io/delete-protection";
/// `ResourceClaimReservedForMaxSize`.
const MOST_CONSUMERS: usize = 256;

/// Returns the keys of an event: of a pod and its claims; of a claim, its owner and its pods; for a template its pods. A key begins with
/// the collection.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    let namespace = meta::namespace(object);
    let own = format!("{collection}/{key}");
    let pod = |name: &str| format!("{}/{namespace}/{name}", PODS.collection);
    if collection == PODS.collection {
        let claims = entries(object).filter_map(|entry| name_of(object, entry));
        let claims = claims.map(|(name, _)| format!("{}/{namespace}/{name}", RESOURCE_CLAIMS.collection));
        return if entries(object).next().is_none() { Vec::new() } else { claims.chain([own]).collect() };
    }
    let is_claim = collection == RESOURCE_CLAIMS.collection;
    let owner = controller_of(object).filter(|owner| is_claim && owner["kind"] == PODS.kind);
    let names_it = |pod: &Value| {
        entries(pod).any(|entry| match is_claim {
            true => name_of(pod, entry).is_some_and(|(name, _)| name == meta::name(object)),
            false => member(entry, "resourceClaimTemplateName") == meta::name(object),
        })
    };
    let users = cluster.list_where(PODS, namespace, names_it);
    let pods = users.iter().map(meta::name).chain(owner.map(|owner| member(owner, "name"))).map(pod);
    pods.chain(is_claim.then_some(own)).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some((collection, key)) = key.split_once('/') else { return Ok(None) };
    if collection == RESOURCE_CLAIMS.collection {
        if let Some(stored) = cluster.get(RESOURCE_CLAIMS, key) {
            sync_claim(cluster, &stored.value).await?;
        }
    } else if let Some(stored) = cluster.get(PODS, key)
        && !meta::is_terminating(&stored.value)
    {
        sync_pod(cluster, &stored.value).await?;
    }
    Ok(None)
}

fn entries(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["spec"]["resourceClaims"].as_array().into_iter().flatten()
}

/// Returns the name of the claim for an entry of a pod, and whether it is one of a template; `None` if it is not made yet
/// (`Name` of dynamic-resource-allocation/resourceclaim).
fn name_of<'v>(pod: &'v Value, entry: &'v Value) -> Option<(&'v str, bool)> {
    if let Some(name) = entry["resourceClaimName"].as_str() {
        return Some((name, false));
    }
    let mut made = pod["status"]["resourceClaimStatuses"].as_array().into_iter().flatten();
    let status = made.find(|status| status["name"] == entry["name"])?;
    Some((member(status, "resourceClaimName"), true))
}

/// Returns the claims of a pod (`foreachPodResourceClaim` of the scheduler's plugin DynamicResources).
///
/// # Errors
/// Returns what is wrong with the first claim that the pod cannot use.
pub(super) fn of_pod(cluster: &Cluster, pod: &Value) -> Result<Vec<Arc<Object>>, String> {
    let namespace = meta::namespace(pod);
    let mut claims = Vec::new();
    for entry in entries(pod) {
        let Some((name, is_made)) = name_of(pod, entry) else {
            return Err(format!("pod \"{namespace}/{}\": ResourceClaim not created yet", meta::name(pod)));
        };
        let Some(claim) = cluster.get(RESOURCE_CLAIMS, &format!("{namespace}/{name}")) else {
            return Err(format!(
                "fetch ResourceClaim {name}: resourceclaims.resource.k8s.io {name:?} not found"
            ));
        };
        if meta::is_terminating(&claim.value) {
            return Err(format!("resourceclaim {name:?} is being deleted"));
        }
        if is_made && !is_controlled_by(&claim.value, pod) {
            return Err(format!(
                "ResourceClaim {namespace}/{name} was not created for Pod {namespace}/{} (Pod is not owner)",
                meta::name(pod)
            ));
        }
        claims.push(claim);
    }
    Ok(claims)
}

pub(super) fn is_allocated(claim: &Value) -> bool {
    claim["status"]["allocation"].is_object()
}

fn consumers(claim: &Value) -> &[Value] {
    claim["status"]["reservedFor"].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn is_reserved_for(claim: &Value, pod: &Value) -> bool {
    consumers(claim).iter().any(|consumer| consumer["uid"] == meta::text(pod, "uid"))
}

/// `CanBeReserved`.
pub(super) fn can_be_reserved(claim: &Value) -> bool {
    consumers(claim).len() < MOST_CONSUMERS
}

/// Adds a pod to the consumers of an allocated claim.
pub(super) async fn reserve(cluster: &Cluster, claim: &Value, pod: &Value) -> Result<(), Fault> {
    let mut all = consumers(claim).to_vec();
    all.push(json!({"resource": PODS.plural, "name": meta::name(pod), "uid": meta::text(pod, "uid")}));
    let mut next = claim.clone();
    next["status"]["reservedFor"] = all.into();
    cluster.update_status(RESOURCE_CLAIMS, &next).await.map(drop)
}

/// `syncPod`.
async fn sync_pod(cluster: &Cluster, pod: &Value) -> Result<(), Fault> {
    let namespace = meta::namespace(pod);
    let mut made: Map<String, Value> = Map::new();
    let mut is_new = false;
    for entry in entries(pod).filter(|entry| entry["resourceClaimTemplateName"].is_string()) {
        let name = member(entry, "name");
        let known = name_of(pod, entry).map(|(claim, _)| claim.to_owned());
        let is_there = known.as_ref().is_some_and(|claim| {
            let stored = cluster.get(RESOURCE_CLAIMS, &format!("{namespace}/{claim}"));
            stored.is_some_and(|claim| is_controlled_by(&claim.value, pod))
        });
        if let Some(claim) = known.filter(|_| is_there) {
            made.insert(name.to_owned(), claim.into());
            continue;
        }
        match claim_for(cluster, pod, entry).await {
            Ok(claim) => made.insert(name.to_owned(), claim.into()),
            Err((fault, text)) => {
                let text = format!("PodResourceClaim {name}: {text}");
                cluster.warn(REPORTER, pod, "FailedResourceClaimCreation", &text).await;
                // An event of the template queues the pod again.
                return fault.map_or(Ok(()), Err);
            }
        };
        is_new = true;
    }
    if is_new {
        let statuses: Vec<Value> =
            made.iter().map(|(name, claim)| json!({"name": name, "resourceClaimName": claim})).collect();
        let status = json!({"resourceClaimStatuses": statuses});
        return unless_gone(cluster.apply_status(PODS, pod, MANAGER, &status).await);
    }
    if member(&pod["spec"], "nodeName").is_empty() || is_over(pod) {
        return Ok(());
    }
    // The scheduler reserves the claims of other pods.
    for claim in of_pod(cluster, pod).unwrap_or_default() {
        let claim: &Value = &claim.value;
        if is_allocated(claim) && !is_reserved_for(claim, pod) && can_be_reserved(claim) {
            reserve(cluster, claim, pod).await?;
        }
    }
    Ok(())
}

/// Returns the name of the claim that is made of a template, and makes it unless it is there (`handleClaim`).
///
/// # Errors
/// Returns the text for the event, and the fault if it may go away by itself.
async fn claim_for(cluster: &Cluster, pod: &Value, entry: &Value) -> Result<String, (Option<Fault>, String)> {
    let (namespace, name) = (meta::namespace(pod), member(entry, "name"));
    let is_it = |claim: &Value| {
        is_controlled_by(claim, pod) && claim["metadata"]["annotations"][NAME_IN_POD] == *name
    };
    if let Some(claim) = cluster.list_where(RESOURCE_CLAIMS, namespace, is_it).first() {
        return Ok(meta::name(claim).to_owned());
    }
    let template = member(entry, "resourceClaimTemplateName");
    let Some(stored) = cluster.get(RESOURCE_TEMPLATES, &format!("{namespace}/{template}")) else {
        let missing = format!("resourceclaimtemplate.resource.k8s.io {template:?} not found");
        return Err((None, format!("resource claim template {template:?}: {missing}")));
    };
    let template = &stored.value["spec"];
    let mut annotations = template["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    annotations.insert(NAME_IN_POD.to_owned(), name.into());
    let mut owner = controller_reference(pod, PODS);
    meta::object_mut(&mut owner).remove("blockOwnerDeletion");
    let claim = json!({
        "metadata": {"generateName": prefix(meta::name(pod), name), "annotations": annotations,
                     "labels": template["metadata"]["labels"], "ownerReferences": [owner]},
        "spec": template["spec"],
    });
    match cluster.create(RESOURCE_CLAIMS, namespace, &claim).await {
        Ok(claim) => Ok(meta::name(&claim).to_owned()),
        Err(fault) => {
            let text = format!("create ResourceClaim : {}", fault.message());
            Err((Some(fault), text))
        }
    }
}

/// Returns the start of the name of a pod's claim. Both names are shortened alike.
fn prefix(pod: &str, claim: &str) -> String {
    const LONGEST: usize = 57;
    let whole = format!("{pod}-{claim}-");
    if whole.len() <= LONGEST {
        return whole;
    }
    let part = |text: &str| text.chars().take(text.len() * LONGEST / whole.len()).collect::<String>();
    format!("{}-{}", part(pod), part(claim))
}

/// `syncClaim`: removes consumers that are done, then the allocation, then a claim of a template.
async fn sync_claim(cluster: &Cluster, claim: &Value) -> Result<(), Fault> {
    let namespace = meta::namespace(claim);
    let pod = |name: &str| cluster.get(PODS, &format!("{namespace}/{name}"));
    // `isPodDone`.
    let is_done = |pod: &Value| {
        is_over(pod) || meta::is_terminating(pod) && member(&pod["spec"], "nodeName").is_empty()
    };
    let consumes = |consumer: &Value| {
        consumer["resource"] != PODS.plural
            || pod(member(consumer, "name")).is_some_and(|pod| {
                meta::text(&pod.value, "uid") == member(consumer, "uid") && !is_done(&pod.value)
            })
    };
    let left: Vec<Value> = consumers(claim).iter().filter(|one| consumes(one)).cloned().collect();
    let is_held = meta::finalizers(claim).contains(&ALLOCATED);
    let is_released = left.is_empty() && is_held;
    if left.len() < consumers(claim).len() || is_released && meta::is_terminating(claim) {
        let mut next = claim.clone();
        next["status"]["reservedFor"] = left.clone().into();
        if is_released {
            meta::object_mut(&mut next["status"]).remove("allocation");
        }
        if next != *claim {
            cluster.update_status(RESOURCE_CLAIMS, &next).await?;
        }
        if is_released {
            cluster.remove_finalizer(RESOURCE_CLAIMS, claim, ALLOCATED).await?;
        }
    }
    let owner = controller_of(claim).filter(|owner| owner["kind"] == PODS.kind && left.is_empty());
    let owner = owner.and_then(|owner| Some((owner, pod(member(owner, "name"))?)));
    let is_unused = owner.is_some_and(|(owner, pod)| {
        is_done(&pod.value) || meta::text(&pod.value, "uid") != member(owner, "uid")
    });
    if is_unused && !meta::is_terminating(claim) {
        return unless_gone(cluster.delete(RESOURCE_CLAIMS, claim, json!({})).await);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_claims_are_shortened_alike() {
        assert_eq!(prefix("p", "c"), "p-c-");
        let long = prefix(&"p".repeat(63), &"c".repeat(63));
        assert_eq!(long, format!("{}-{}", "p".repeat(28), "c".repeat(28)));
    }
}
