//! The controllers' access to the server: they read the store, and write by requests as any client does.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::meta;
use crate::server::{OfController, Server};
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
pub(super) const CLASSES: Resource = Resource {
    api_version: "storage.k8s.io/v1",
    kind: "StorageClass",
    plural: "storageclasses",
    collection: "storageclasses.storage.k8s.io",
};
pub(super) const CSI_NODES: Resource = Resource {
    api_version: "storage.k8s.io/v1",
    kind: "CSINode",
    plural: "csinodes",
    collection: "csinodes.storage.k8s.io",
};
pub(super) const ATTACHMENTS: Resource = Resource {
    api_version: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    plural: "volumeattachments",
    collection: "volumeattachments.storage.k8s.io",
};
pub(super) const ATTRIBUTES_CLASSES: Resource = Resource {
    api_version: "storage.k8s.io/v1",
    kind: "VolumeAttributesClass",
    plural: "volumeattributesclasses",
    collection: "volumeattributesclasses.storage.k8s.io",
};
pub(super) const EVENTS: Resource = core("Event", "events");
pub(super) const NAMESPACES: Resource = core("Namespace", "namespaces");
pub(super) const QUOTAS: Resource = core("ResourceQuota", "resourcequotas");
pub(super) const SECRETS: Resource = core("Secret", "secrets");
pub(super) const CONFIG_MAPS: Resource = core("ConfigMap", "configmaps");
pub(super) const ACCOUNTS: Resource = core("ServiceAccount", "serviceaccounts");
pub(super) const SERVICES: Resource = core("Service", "services");
pub(super) const ENDPOINTS: Resource = core("Endpoints", "endpoints");
pub(super) const ENDPOINT_SLICES: Resource = Resource {
    api_version: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    collection: "endpointslices.discovery.k8s.io",
};
pub(super) const LEASES: Resource = Resource {
    api_version: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    collection: "leases.coordination.k8s.io",
};
pub(super) const JOBS: Resource =
    Resource { api_version: "batch/v1", kind: "Job", plural: "jobs", collection: "jobs.batch" };
pub(super) const CRON_JOBS: Resource =
    Resource { api_version: "batch/v1", kind: "CronJob", plural: "cronjobs", collection: "cronjobs.batch" };
pub(super) const BUDGETS: Resource = Resource {
    api_version: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    collection: "poddisruptionbudgets.policy",
};
pub(super) const POLICIES: Resource = Resource {
    api_version: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
    collection: "validatingadmissionpolicies.admissionregistration.k8s.io",
};
const fn device(kind: &'static str, plural: &'static str, collection: &'static str) -> Resource {
    Resource { api_version: "resource.k8s.io/v1", kind, plural, collection }
}

pub(super) const RESOURCE_CLAIMS: Resource =
    device("ResourceClaim", "resourceclaims", "resourceclaims.resource.k8s.io");
pub(super) const RESOURCE_TEMPLATES: Resource =
    device("ResourceClaimTemplate", "resourceclaimtemplates", "resourceclaimtemplates.resource.k8s.io");
pub(super) const DEVICE_CLASSES: Resource =
    device("DeviceClass", "deviceclasses", "deviceclasses.resource.k8s.io");
pub(super) const DEPLOYMENTS: Resource = apps("Deployment", "deployments", "deployments.apps");
pub(super) const STATEFUL_SETS: Resource = apps("StatefulSet", "statefulsets", "statefulsets.apps");
pub(super) const DAEMON_SETS: Resource = apps("DaemonSet", "daemonsets", "daemonsets.apps");
pub(super) const REVISIONS: Resource =
    apps("ControllerRevision", "controllerrevisions", "controllerrevisions.apps");
pub(super) const REPLICA_SETS: Resource = apps("ReplicaSet", "replicasets", "replicasets.apps");

/// The refusal of a request.
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
    /// Returns a fault that a later attempt may not have.
    pub(super) fn waiting(message: String) -> Self {
        Self { code: 409, message }
    }

    /// The server's message.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Reports whether the object does not exist (any more).
    pub(super) fn is_not_found(&self) -> bool {
        self.code == 404
    }
}

/// Ignores the error that the object does not exist.
pub(super) fn unless_gone(result: Result<Value, Fault>) -> Result<(), Fault> {
    match result {
        Err(fault) if !fault.is_not_found() => Err(fault),
        _ => Ok(()),
    }
}

/// A controller's access to the server.
pub(super) struct Cluster {
    server: Arc<Server>,
    /// The user agent, which becomes the field manager.
    agent: &'static str,
}

impl Cluster {
    pub(super) fn new(server: Arc<Server>, agent: &'static str) -> Self {
        Self { server, agent }
    }

    /// The same cluster for a component with another name.
    pub(super) fn by(&self, agent: &'static str) -> Self {
        Self { server: self.server.clone(), agent }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn now(&self) -> Timestamp {
        self.server.timestamp()
    }

    /// Returns the current time as in object metadata.
    pub(super) fn time(&self) -> String {
        self.server.now()
    }

    pub(super) fn get(&self, of: Resource, key: &str) -> Option<Arc<Object>> {
        self.server.store.get(of.collection, key)
    }

    /// Lists the objects of a namespace in the order of their names.
    pub(super) fn list(&self, of: Resource, namespace: &str) -> Vec<Value> {
        self.list_where(of, namespace, |_| true)
    }

    /// Lists the wanted objects of a namespace in the order of their names.
    pub(super) fn list_where(
        &self,
        of: Resource,
        namespace: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Vec<Value> {
        self.listed(of, &format!("{namespace}/"), wanted)
    }

    /// Lists the objects of all namespaces.
    pub(super) fn everywhere(&self, of: Resource) -> Vec<Value> {
        self.listed(of, "", |_| true)
    }

    fn listed(&self, of: Resource, prefix: &str, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.stored(of, prefix, wanted).map(|object| object.value.clone()).collect()
    }

    /// Returns the wanted objects of all namespaces, without copies.
    pub(super) fn objects(&self, of: Resource, wanted: impl Fn(&Value) -> bool) -> Vec<Arc<Object>> {
        self.stored(of, "", wanted).collect()
    }

    fn stored(
        &self,
        of: Resource,
        prefix: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> impl Iterator<Item = Arc<Object>> {
        // Only older versions can be compacted, and this is the current one.
        let snapshot = self.server.store.list(of.collection, prefix, None);
        let objects = snapshot.map(|snapshot| snapshot.objects).unwrap_or_default();
        objects.into_iter().map(|(_, object)| object).filter(move |object| wanted(&object.value))
    }

    pub(super) async fn create(&self, of: Resource, namespace: &str, object: &Value) -> Result<Value, Fault> {
        self.send(Method::POST, &path(of, namespace, ""), "application/json", object).await
    }

    /// Replaces an object unless it changed since it was read.
    pub(super) async fn update(&self, of: Resource, object: &Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::PUT, &path, "application/json", object).await
    }

    /// Replaces the status of an object unless it changed since it was read.
    pub(super) async fn update_status(&self, of: Resource, object: &Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::PUT, &format!("{path}/status"), "application/json", object).await
    }

    /// Applies the status of an object as `manager`, by force.
    pub(super) async fn apply_status(
        &self,
        of: Resource,
        object: &Value,
        manager: &str,
        status: &Value,
    ) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        let applied = json!({"apiVersion": of.api_version, "kind": of.kind, "metadata": {"name": meta::name(object)},
                             "status": status});
        let path = format!("{path}/status?fieldManager={manager}&force=true");
        self.send(Method::PATCH, &path, "application/apply-patch+yaml", &applied).await
    }

    /// Merges a patch into an object.
    pub(super) async fn patch(&self, of: Resource, object: &Value, patch: &Value) -> Result<Value, Fault> {
        let path = path(of, meta::namespace(object), meta::name(object));
        self.send(Method::PATCH, &path, "application/merge-patch+json", patch).await
    }

    /// Removes a finalizer from an object, if both exist.
    pub(super) async fn remove_finalizer(
        &self,
        of: Resource,
        object: &Value,
        finalizer: &str,
    ) -> Result<(), Fault> {
        let namespace = meta::namespace(object);
        let slash = if namespace.is_empty() { "" } else { "/" };
        let Some(stored) = self.get(of, &format!("{namespace}{slash}{}", meta::name(object))) else {
            return Ok(());
        };
        let current = &stored.value;
        let mut left = meta::finalizers(current);
        let had = left.len();
        left.retain(|name| *name != finalizer);
        if left.len() == had || meta::text(current, "uid") != meta::text(object, "uid") {
            return Ok(());
        }
        let version = meta::text(current, "resourceVersion");
        let patch = json!({"metadata": {"finalizers": left, "resourceVersion": version}});
        unless_gone(self.patch(of, current, &patch).await)
    }

    /// Deletes an object unless it was replaced since it was read.
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

    /// Records a normal event about an object; failures are ignored.
    pub(super) async fn tell(&self, component: &str, about: &Value, reason: &str, message: &str) {
        self.record("Normal", component, about, reason, message).await;
    }

    /// Records a warning about an object; failures are ignored.
    pub(super) async fn warn(&self, component: &str, about: &Value, reason: &str, message: &str) {
        self.record("Warning", component, about, reason, message).await;
    }

    async fn record(&self, kind: &str, component: &str, about: &Value, reason: &str, message: &str) {
        let namespace = meta::namespace(about);
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        let time = self.time();
        // The names of events are ordered by time; the counter keeps those of one moment distinct.
        let moment = self.now().as_nanosecond() + i128::from(self.server.store.count("event-names"));
        let event = json!({
            "metadata": {"name": format!("{}.{moment:x}", meta::name(about)), "namespace": namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"], "kind": about["kind"], "name": meta::name(about),
                "namespace": meta::namespace(about), "uid": meta::text(about, "uid"),
                "resourceVersion": meta::text(about, "resourceVersion"),
            },
            "reason": reason, "message": message, "type": kind, "count": 1,
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
            .extension(OfController)
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

/// Returns the path of a collection, or of the object `name` in it.
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

/// Reports whether a map of labels has all of another one's.
pub(super) fn has_labels(labels: &Value, wanted: &Value) -> bool {
    wanted.as_object().into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
}
