//! What controllers see and do: they read the store, and they write by requests, as any client does.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::meta;
use crate::server::Server;
use crate::store::Object;

/// A built-in resource that controllers handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    /// The store's collection.
    pub(super) collection: &'static str,
}

const fn core(kind: &'static str, plural: &'static str) -> Resource {
    Resource { api_version: "v1", kind, plural, collection: plural }
}

const fn apps(kind: &'static str, plural: &'static str, collection: &'static str) -> Resource {
    Resource { api_version: "apps/v1", kind, plural, collection }
}

pub(super) const PODS: Resource = core("Pod", "pods");
pub(super) const NODES: Resource = core("Node", "nodes");
pub(super) const CLAIMS: Resource = core("PersistentVolumeClaim", "persistentvolumeclaims");
pub(super) const VOLUMES: Resource = core("PersistentVolume", "persistentvolumes");
pub(super) const EVENTS: Resource = core("Event", "events");
pub(super) const NAMESPACES: Resource = core("Namespace", "namespaces");
pub(super) const CONFIG_MAPS: Resource = core("ConfigMap", "configmaps");
pub(super) const ACCOUNTS: Resource = core("ServiceAccount", "serviceaccounts");
pub(super) const DEPLOYMENTS: Resource = apps("Deployment", "deployments", "deployments.apps");
pub(super) const REPLICA_SETS: Resource = apps("ReplicaSet", "replicasets", "replicasets.apps");

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: u16,
    message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Fault {
    /// Whether the object is not there (any more).
    pub(super) fn is_not_found(&self) -> bool {
        self.code == 404
    }
}

/// `Ok` for something that is gone already.
pub(super) fn unless_gone(result: Result<Value, Fault>) -> Result<(), Fault> {
    match result {
        Err(fault) if !fault.is_not_found() => Err(fault),
        _ => Ok(()),
    }
}

/// The server as a controller sees it.
pub(super) struct Cluster {
    server: Arc<Server>,
    /// The user agent, whose name owns the fields that are set.
    agent: &'static str,
}

impl Cluster {
    pub(super) fn new(server: Arc<Server>, agent: &'static str) -> Self {
        Self { server, agent }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn now(&self) -> Timestamp {
        self.server.timestamp()
    }

    /// The present time as objects carry it.
    pub(super) fn time(&self) -> String {
        self.server.now()
    }

    pub(super) fn get(&self, of: Resource, key: &str) -> Option<Arc<Object>> {
        self.server.store.get(of.collection, key)
    }

    /// The objects of a namespace in the order of their names.
    pub(super) fn list(&self, of: Resource, namespace: &str) -> Vec<Value> {
        self.listed(of, &format!("{namespace}/"))
    }

    /// The objects of all namespaces.
    pub(super) fn everywhere(&self, of: Resource) -> Vec<Value> {
        self.listed(of, "")
    }

    fn listed(&self, of: Resource, prefix: &str) -> Vec<Value> {
        // Only the past can be out of reach, and this is the present.
        let snapshot = self.server.store.list(of.collection, prefix, None);
        let objects = snapshot.map(|snapshot| snapshot.objects).unwrap_or_default();
        objects.into_iter().map(|(_, object)| object.value.clone()).collect()
    }

    pub(super) async fn create(&self, of: Resource, namespace: &str, object: &Value) -> Result<Value, Fault> {
        self.send(Method::POST, &path(of, namespace, ""), "application/json", object).await
    }

    /// Replaces an object that is still as it was read.
    pub(super) async fn update(&self, of: Resource, object: &Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::PUT, &path, "application/json", object).await
    }

    /// Replaces the status of an object that is still as it was read.
    pub(super) async fn update_status(&self, of: Resource, object: &Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::PUT, &format!("{path}/status"), "application/json", object).await
    }

    /// Merges a patch into an object.
    pub(super) async fn patch(&self, of: Resource, object: &Value, patch: &Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::PATCH, &path, "application/merge-patch+json", patch).await
    }

    /// Deletes an object that is still the one that was read.
    pub(super) async fn delete(&self, of: Resource, object: &Value, options: Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        let mut options = options;
        options["preconditions"] = json!({"uid": meta::text(object, "uid")});
        self.send(Method::DELETE, &path, "application/json", &options).await
    }

    /// Sends a subresource of an object.
    pub(super) async fn post(
        &self,
        of: Resource,
        object: &Value,
        sub: &str,
        body: &Value,
    ) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::POST, &format!("{path}/{sub}"), "application/json", body).await
    }

    /// Tells what happened to an object; that it could not be told changes nothing.
    pub(super) async fn tell(&self, component: &str, about: &Value, reason: &str, message: &str) {
        let namespace = meta::namespace(about);
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        let time = self.time();
        // The names of events follow each other in time; two of one moment differ all the same.
        let moment = self.now().as_nanosecond() + i128::from(self.server.store.count("event-names"));
        let event = json!({
            "metadata": {"name": format!("{}.{moment:x}", meta::name(about)), "namespace": namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"], "kind": about["kind"], "name": meta::name(about),
                "namespace": meta::namespace(about), "uid": meta::text(about, "uid"),
                "resourceVersion": meta::text(about, "resourceVersion"),
            },
            "reason": reason, "message": message, "type": "Normal", "count": 1,
            "source": {"component": component}, "reportingComponent": component,
            "firstTimestamp": time, "lastTimestamp": time,
        });
        if let Err(fault) = self.create(EVENTS, namespace, &event).await {
            tracing::debug!(%fault, reason, "an event was not told");
        }
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: &Value) -> Result<Value, Fault> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, kind)
            .header(http::header::USER_AGENT, self.agent)
            .body(Full::<Bytes>::from(body.to_string()))
            .map_err(|e| Fault { code: 400, message: e.to_string() })?;
        let response = self.server.clone().handle(request).await;
        let code = response.status().as_u16();
        let bytes = match response.into_body().collect().await {
            Ok(body) => body.to_bytes(),
            Err(never) => match never {},
        };
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if code < 300 {
            return Ok(value);
        }
        Err(Fault { code, message: value["message"].as_str().unwrap_or_default().to_owned() })
    }
}

/// The path of a collection, or of the object `name` in it.
fn path(of: Resource, namespace: &str, name: &str) -> String {
    let root = if of.api_version.contains('/') { "/apis" } else { "/api" };
    let place = if namespace.is_empty() || of == NODES || of == NAMESPACES {
        String::new()
    } else {
        format!("/namespaces/{namespace}")
    };
    let collection = format!("{root}/{}{place}/{}", of.api_version, of.plural);
    if name.is_empty() { collection } else { format!("{collection}/{name}") }
}

/// The owner that manages an object.
pub(super) fn controller_of(object: &Value) -> Option<&Value> {
    object["metadata"]["ownerReferences"].as_array()?.iter().find(|owner| owner["controller"] == true)
}

/// A reference that makes `owner` the manager of another object.
pub(super) fn controller_reference(owner: &Value, of: Resource) -> Value {
    json!({
        "apiVersion": of.api_version, "kind": of.kind, "name": meta::name(owner), "uid": meta::text(owner, "uid"),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Whether `owner` manages an object.
pub(super) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller_of(object).is_some_and(|reference| reference["uid"] == meta::text(owner, "uid"))
}

/// Takes the objects that `owner`'s selector selects and nobody manages, and lets go of those that it does not select;
/// answers what the owner manages then.
pub(super) async fn claim(
    cluster: &Cluster,
    of: Resource,
    owner: &Value,
    owner_kind: Resource,
) -> Result<Vec<Value>, Fault> {
    let selector = &owner["spec"]["selector"];
    let mut own = Vec::new();
    for object in cluster.list(of, meta::namespace(owner)) {
        let selected = crate::selector::matches(selector, &object["metadata"]["labels"]);
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
    let uid = meta::text(object, "uid");
    cluster.patch(of, object, &json!({"metadata": {"uid": uid, "ownerReferences": owners}})).await
}

async fn release(cluster: &Cluster, of: Resource, owner: &Value, object: &Value) -> Result<Value, Fault> {
    let mut owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.retain(|reference| reference["uid"] != meta::text(owner, "uid"));
    let owners = if owners.is_empty() { Value::Null } else { Value::Array(owners) };
    let uid = meta::text(object, "uid");
    cluster.patch(of, object, &json!({"metadata": {"uid": uid, "ownerReferences": owners}})).await
}
