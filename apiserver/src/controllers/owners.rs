//! Owners and the objects that they manage.

use serde_json::{Value, json};

use super::cluster::{Cluster, Fault, JOBS, Resource, unless_gone};
use crate::{meta, selector};

/// The finalizer by which a job counts each of its pods once (`JobTrackingFinalizer` of k8s.io/api/batch/v1).
pub(super) const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Returns the keys of owners of a kind after an event: an owner's own; for another object those of its owner or of
/// owners that match.
pub(super) fn owner_keys(
    cluster: &Cluster,
    owner_kind: Resource,
    collection: &str,
    key: &str,
    object: &Value,
) -> Vec<String> {
    if collection == owner_kind.collection {
        return vec![key.to_owned()];
    }
    let namespace = meta::namespace(object);
    if let Some(owner) = controller_of(object) {
        let is_of_kind = owner["kind"] == owner_kind.kind;
        let name = owner["name"].as_str().filter(|_| is_of_kind);
        return name.map(|name| format!("{namespace}/{name}")).into_iter().collect();
    }
    let owners = cluster.list(owner_kind, namespace);
    let labels = &object["metadata"]["labels"];
    let selecting = owners.iter().filter(|owner| selector::matches(&owner["spec"]["selector"], labels));
    selecting.map(|owner| format!("{namespace}/{}", meta::name(owner))).collect()
}

/// Returns the owner that manages an object.
pub(super) fn controller_of(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

/// Builds the reference that makes `owner` the manager of another object.
pub(super) fn controller_reference(owner: &Value, of: Resource) -> Value {
    json!({
        "apiVersion": of.api_version, "kind": of.kind, "name": meta::name(owner), "uid": meta::text(owner, "uid"),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Reports whether `owner` manages an object.
pub(super) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller_of(object).is_some_and(|reference| reference["uid"] == meta::text(owner, "uid"))
}

/// Adopts the members that `owner`'s selector selects and nobody manages, and releases those that do not match; returns
/// the objects that the owner manages then.
///
/// Source: `pkg/controller/controller_ref_manager.go`.
pub(super) async fn claim(
    cluster: &Cluster,
    of: Resource,
    owner: &Value,
    owner_kind: Resource,
    is_member: impl Fn(&Value) -> bool,
) -> Result<Vec<Value>, Fault> {
    let selector = &owner["spec"]["selector"];
    let mut own = Vec::new();
    let may_be_ours = |object: &Value| controller_of(object).is_none() || is_controlled_by(object, owner);
    for object in cluster.list_where(of, meta::namespace(owner), may_be_ours) {
        let selected = selector::matches(selector, &object["metadata"]["labels"]) && is_member(&object);
        let leaving = meta::is_terminating(owner);
        match controller_of(&object) {
            Some(_) if is_controlled_by(&object, owner) => {
                if selected {
                    own.push(object);
                } else if !leaving {
                    unless_gone(release(cluster, of, owner, &object).await)?;
                }
            }
            None if selected && !leaving && !meta::is_terminating(&object) => {
                let adopted = adopt(cluster, of, owner, owner_kind, &object).await;
                match adopted {
                    Err(fault) if fault.is_not_found() => {}
                    adopted => own.push(adopted?),
                }
            }
            _ => {}
        }
    }
    Ok(own)
}

async fn adopt(
    cluster: &Cluster,
    of: Resource,
    owner: &Value,
    owner_kind: Resource,
    object: &Value,
) -> Result<Value, Fault> {
    let mut owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.push(controller_reference(owner, owner_kind));
    let mut metadata = json!({"uid": meta::text(object, "uid"), "ownerReferences": owners});
    // A job counts pods by its finalizer.
    if owner_kind == JOBS {
        let mut finalizers = meta::finalizers(object);
        finalizers.retain(|name| *name != JOB_TRACKING);
        finalizers.push(JOB_TRACKING);
        metadata["finalizers"] = finalizers.into();
    }
    cluster.patch(of, object, &json!({"metadata": metadata})).await
}

async fn release(cluster: &Cluster, of: Resource, owner: &Value, object: &Value) -> Result<Value, Fault> {
    let mut owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.retain(|reference| reference["uid"] != meta::text(owner, "uid"));
    let owners = if owners.is_empty() { Value::Null } else { Value::Array(owners) };
    let mut finalizers = meta::finalizers(object);
    finalizers.retain(|name| *name != JOB_TRACKING);
    let uid = meta::text(object, "uid");
    let metadata = json!({"uid": uid, "ownerReferences": owners, "finalizers": finalizers});
    cluster.patch(of, object, &json!({"metadata": metadata})).await
}
