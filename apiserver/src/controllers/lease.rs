//! The lease that is a node's heartbeat: `pkg/kubelet` with `staging/src/k8s.io/component-helpers/apimachinery/lease`.

use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::{Cluster, Fault, LEASES, NODES};
use crate::meta;

pub(super) const NAMESPACE: &str = "kube-node-lease";
/// The kubelet's `nodeLeaseDurationSeconds`.
const SECONDS: i64 = 40;
/// The renewal interval, a quarter of the lease's duration.
const RENEWAL: Duration = Duration::from_secs(10);

/// Renews the lease of a node when it is due; returns the time until the next renewal.
pub(super) async fn renew(cluster: &Cluster, node: &Value) -> Result<Duration, Fault> {
    let name = meta::name(node);
    let stored = cluster.get(LEASES, &format!("{NAMESPACE}/{name}"));
    let left = stored.as_ref().and_then(|stored| {
        let renewed: jiff::Timestamp = stored.value["spec"]["renewTime"].as_str()?.parse().ok()?;
        RENEWAL.checked_sub(Duration::try_from(cluster.now().duration_since(renewed)).ok()?)
    });
    if let Some(left) = left.filter(|left| !left.is_zero()) {
        return Ok(left);
    }
    let time = cluster.now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
    let spec = json!({"holderIdentity": name, "leaseDurationSeconds": SECONDS, "renewTime": time});
    match stored {
        // Past admission: renewals are most of a node's writes in simulated time.
        Some(stored) if is_current(&stored.value, name) => {
            let key = format!("{NAMESPACE}/{name}");
            cluster
                .server()
                .modify(LEASES.collection, &key, |lease| Some(renewed(lease, &time, &cluster.time())));
            return Ok(RENEWAL);
        }
        Some(stored) => cluster.patch(LEASES, &stored.value, &json!({"spec": spec})).await?,
        None => {
            let owner = json!({"apiVersion": NODES.api_version, "kind": NODES.kind, "name": name, "uid": meta::text(node, "uid")});
            let lease = json!({"metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]}, "spec": spec});
            cluster.create(LEASES, NAMESPACE, &lease).await?
        }
    };
    Ok(RENEWAL)
}

/// Reports whether only the time of a lease is to be changed.
fn is_current(lease: &Value, holder: &str) -> bool {
    lease["spec"]["holderIdentity"] == holder && lease["spec"]["leaseDurationSeconds"] == SECONDS
}

/// Returns a lease with another time, which its manager has written now.
fn renewed(lease: &Value, time: &str, now: &str) -> Value {
    let mut next = lease.clone();
    next["spec"]["renewTime"] = json!(time);
    for entry in next["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
        if entry["manager"] == "kubelet" {
            entry["time"] = json!(now);
        }
    }
    next
}
