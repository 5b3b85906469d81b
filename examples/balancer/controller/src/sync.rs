//! Ensures one child: read from the cache, written by server-side apply if it differs.

use std::fmt::Debug;
use std::sync::Arc;

use balancer_api::v1alpha1::Balancer;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::{ClientScope, Error as ClientError};
use kubesmith_runtime::controllerutil::{controller_of, is_controlled_by};
use kubesmith_runtime::informer::{Cached, CachedClient, InformerError};
use kubesmith_runtime::kube::Resource;
use kubesmith_runtime::kube::api::PatchParams;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::CONTROLLER_NAME;

/// The reason why a child is not in its wanted state.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// Another owner's object has the child's name.
    #[error("{kind} {name:?} exists and {}", match .controller {
        Some(controller) => format!("belongs to {controller}"),
        None => "does not belong to this Balancer".to_owned(),
    })]
    NotOurs {
        /// The child's kind.
        kind: String,
        /// The child's name.
        name: String,
        /// Kind and name of its controller.
        controller: Option<String>,
    },
    /// The API server has refused, or was not reached.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// The cache does not show the write.
    #[error("{0}")]
    Informer(#[from] InformerError),
    /// The object cannot be written as JSON.
    #[error("cannot compare a child with what there is: {0}")]
    Json(#[from] serde_json::Error),
}

/// A kind of children of a Balancer.
pub trait Child:
    Resource<DynamicType = (), Scope: ClientScope>
    + Cached<DynamicType = ()>
    + Clone
    + Debug
    + Serialize
    + DeserializeOwned
{
}

impl<K> Child for K where
    K: Resource<DynamicType = (), Scope: ClientScope>
        + Cached<DynamicType = ()>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
{
}

/// A child in its wanted state.
#[derive(Clone, Debug)]
pub struct Ensured<K> {
    /// The object as the server has it.
    pub object: Arc<K>,
    /// Whether it had to be written.
    pub changed: bool,
}

/// Writes `wanted` if needed. Fields of other owners in the object stay.
///
/// # Errors
///
/// Returns [`SyncError`]; an object of that name that is not controlled by `owner` stays as it is.
pub async fn ensure<K: Child>(
    client: &CachedClient<K>,
    owner: &Balancer,
    wanted: &K,
) -> Result<Ensured<K>, SyncError> {
    let key = ObjectKey::of(wanted);
    let found = match client.get(&key).await? {
        // The cache may lack an object that another owner has created, and an apply would take it over.
        None => client.get_live(&key).await?.map(Arc::new),
        found => found,
    };
    if let Some(found) = found.clone() {
        if !is_controlled_by(&*found, owner) {
            return Err(not_ours(&*found));
        }
        if covers(&serde_json::to_value(&*found)?, &serde_json::to_value(wanted)?) {
            return Ok(Ensured { object: found, changed: false });
        }
    }
    let applied = client.apply(wanted, &PatchParams::apply(CONTROLLER_NAME).force()).await?;
    // The difference may be another owner's, which stays: then the server has changed nothing.
    let before = found.as_ref().and_then(|found| found.meta().resource_version.as_ref());
    let changed = before.is_none() || before != applied.meta().resource_version.as_ref();
    Ok(Ensured { object: Arc::new(applied), changed })
}

fn not_ours<K: Resource<DynamicType = ()>>(found: &K) -> SyncError {
    SyncError::NotOurs {
        kind: K::kind(&()).into_owned(),
        name: found.meta().name.clone().unwrap_or_default(),
        controller: controller_of(found).map(|owner| format!("{} {:?}", owner.kind, owner.name)),
    }
}

/// Reports whether `found` has all members of `wanted`. Members that only the server or others set are ignored, except
/// in lists and selectors, where they may be ones that are no longer wanted. A server omits an empty map or list.
fn covers(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            let found = found.get(name).unwrap_or(&Value::Null);
            let is_left_out = found.is_null() && is_empty(wanted);
            is_left_out || if name == "selector" { found == wanted } else { covers(found, wanted) }
        }),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| covers(found, wanted))
        }
        (found, wanted) => found == wanted,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn server_defaults_are_covered_and_leftover_values_are_not() {
        let wanted = json!({ "spec": { "selector": { "a": "b" }, "ports": [{ "port": 80 }] } });
        let defaulted = json!({
            "metadata": { "uid": "1" },
            "spec": { "selector": { "a": "b" }, "ports": [{ "port": 80, "targetPort": 80 }], "type": "ClusterIP" },
        });
        assert!(covers(&defaulted, &wanted));
        for leftover in [
            json!({ "spec": { "selector": { "a": "b", "c": "d" }, "ports": [{ "port": 80 }] } }),
            json!({ "spec": { "selector": { "a": "b" }, "ports": [{ "port": 80 }, { "port": 81 }] } }),
            json!({ "spec": { "selector": { "a": "b" }, "ports": [{ "port": 81 }] } }),
            json!({ "spec": { "selector": { "a": "b" } } }),
        ] {
            assert!(!covers(&leftover, &wanted), "{leftover}");
        }
    }

    #[test]
    fn empty_values_may_be_omitted() {
        let wanted = json!({ "spec": { "selector": {}, "ports": [] } });
        assert!(covers(&json!({ "spec": { "type": "ClusterIP" } }), &wanted));
        for leftover in [json!({ "selector": { "a": "b" } }), json!({ "ports": [{ "port": 80 }] })] {
            assert!(!covers(&json!({ "spec": leftover }), &wanted), "{leftover}");
        }
    }
}
