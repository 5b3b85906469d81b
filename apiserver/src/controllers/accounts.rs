//! Adds to every namespace the service account `default` and the config map with the server's certificate authority.

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{ACCOUNTS, CONFIG_MAPS, Cluster, Fault, NAMESPACES, Resource};
use crate::identity::Identity;
use crate::meta;

pub(super) const WATCHES: &[&str] = &[NAMESPACES.collection, ACCOUNTS.collection, CONFIG_MAPS.collection];

const ACCOUNT: &str = "default";
const AUTHORITY: &str = "kube-root-ca.crt";

/// Returns the namespace of a changed object.
pub(super) fn keys(collection: &str, object: &Value) -> Vec<String> {
    let name = meta::name(object);
    if collection == NAMESPACES.collection {
        return vec![name.to_owned()];
    }
    let ours = (collection == ACCOUNTS.collection && name == ACCOUNT)
        || (collection == CONFIG_MAPS.collection && name == AUTHORITY);
    if ours { vec![meta::namespace(object).to_owned()] } else { Vec::new() }
}

pub(super) async fn reconcile(cluster: &Cluster, namespace: &str) -> Outcome {
    let Some(stored) = cluster.get(NAMESPACES, namespace) else { return Ok(None) };
    if meta::is_terminating(&stored.value) {
        return Ok(None);
    }
    ensure(cluster, ACCOUNTS, namespace, json!({"metadata": {"name": ACCOUNT}})).await?;
    let Ok(identity) = Identity::of(&cluster.server().store) else { return Ok(None) };
    let text = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as \
                the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of \
                Kubernetes clusters.";
    let map = json!({
        "metadata": {"name": AUTHORITY, "annotations": {"kubernetes.io/description": text}},
        "data": {"ca.crt": identity.authority.pem},
    });
    let present = cluster.get(CONFIG_MAPS, &format!("{namespace}/{AUTHORITY}"));
    if present.is_some_and(|present| present.value["data"] == map["data"]) {
        return Ok(None);
    }
    ensure(cluster, CONFIG_MAPS, namespace, map).await?;
    Ok(None)
}

/// Creates an object, or restores its data.
async fn ensure(cluster: &Cluster, of: Resource, namespace: &str, object: Value) -> Result<(), Fault> {
    let key = format!("{namespace}/{}", meta::name(&object));
    let done = match cluster.get(of, &key) {
        None => cluster.create(of, namespace, &object).await,
        Some(present) if object["data"].is_object() => {
            cluster.patch(of, &present.value, &json!({"data": object["data"]})).await
        }
        Some(_) => return Ok(()),
    };
    match done {
        // Another client was faster, or the namespace is terminating.
        Err(fault) if !matches!(fault.code, 403 | 404 | 409) => Err(fault),
        _ => Ok(()),
    }
}
