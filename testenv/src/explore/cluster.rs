//! The server of a simulation: the embedded server with its controllers, on a runtime of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use kube::Client;
use kubesmith_apiserver::request::{Target, parse_path};
use kubesmith_apiserver::{
    ApiError, ApiServer, ApiServerOptions, ApiService, Body, ManualClock, Objects, Reply, Snapshot,
};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::hooks::Hooks;
use super::pods::PodFault;
use super::sim::{Step, Webhook};
use super::sim_runtime::SimRuntime;

/// The field manager of simulated users.
const USER: &str = "kubectl";

/// How a server differs from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Decides UIDs and generated names.
    pub(super) seed: u64,
    /// There is a node on which pods run.
    pub(super) node: bool,
}

/// A server with its simulated time.
pub(super) struct Cluster {
    /// Declared before its runtime, in whose context it has to be dropped.
    server: Option<ApiServer>,
    service: ApiService,
    objects: Objects,
    pub(super) runtime: SimRuntime,
    clock: Arc<ManualClock>,
    pub(super) hooks: Hooks,
    /// The whole seconds that the clock was moved.
    seconds: u64,
}

impl Cluster {
    /// Starts a server, with what a snapshot has.
    pub(super) fn new(
        runtime: SimRuntime,
        clock: Arc<ManualClock>,
        kind: Kind,
        snapshot: Option<Snapshot>,
    ) -> Result<Self, String> {
        let hooks = Hooks::default();
        let options = ApiServerOptions {
            clock: Some(clock.clone()),
            webhooks: Some(Arc::new(hooks.clone())),
            seed: Some(kind.seed),
            controllers: true,
            simulated_node: kind.node,
            snapshot,
            ..ApiServerOptions::default()
        };
        let server = {
            let _context = runtime.enter();
            ApiServer::start(options).map_err(|error| error.to_string())?
        };
        let (service, objects) = (server.service(), server.objects());
        Ok(Self { server: Some(server), service, objects, runtime, clock, hooks, seconds: 0 })
    }

    /// Everything that the server has.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        self.server.as_ref().map(ApiServer::snapshot)
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Returns the resource of an object, as group and plural name, if the server serves it.
    pub(super) fn resource_of(&self, object: &Value) -> Option<(String, String)> {
        match parse_path(&self.objects.path(object).ok()?) {
            Ok(Target::Resource(path)) => Some((path.group, path.resource)),
            _ => None,
        }
    }

    /// Serves these definitions, and calls the webhooks of these configurations.
    pub(super) fn install(&self, definitions: &[Value]) -> Result<(), String> {
        let (crds, others): (Vec<_>, Vec<_>) =
            definitions.iter().cloned().partition(|value| value["kind"] == "CustomResourceDefinition");
        self.objects
            .add_definitions(crds)
            .map_err(|(name, error)| format!("the CRD {name} is refused: {}", error.message()))?;
        others.into_iter().try_for_each(|value| {
            let name = value["metadata"]["name"].clone();
            self.objects.add(value).map_err(|error| format!("the configuration {name} is refused: {error}"))
        })
    }

    /// Serves webhooks, which may ask the server.
    pub(super) fn serve_webhooks(&self, webhooks: &[Webhook]) {
        let _context = self.runtime.enter();
        for webhook in webhooks {
            self.hooks.add(webhook(Client::new(self.service.clone(), "default")));
        }
    }

    /// Sends a request to the server. Nothing else in the simulation moves meanwhile.
    pub(super) fn send(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let request = Request::from_parts(parts, Full::new(body));
        match self.runtime.block_on(self.service.clone().oneshot(request)) {
            Some(Ok(response)) => response,
            _ => Reply::error(&ApiError::internal("the simulation ended")).into_response(),
        }
    }

    /// Reads the body of a response other than a watch.
    pub(super) fn collect(&self, body: Body) -> Bytes {
        let collected = self.runtime.block_on(body.collect());
        collected.and_then(Result::ok).map(http_body_util::Collected::to_bytes).unwrap_or_default()
    }

    /// Moves the server's time to `now`.
    pub(super) fn advance_to(&mut self, now: Duration) {
        loop {
            let whole = self.runtime.elapsed().as_secs();
            // The difference is at most a century of seconds.
            self.clock.advance((whole - self.seconds).cast_signed());
            self.seconds = whole;
            let left = now.saturating_sub(self.runtime.elapsed());
            if left.is_zero() {
                return;
            }
            self.runtime.advance(left);
        }
    }

    /// Stops the garbage collector, or lets it continue.
    pub(super) fn pause_collector(&self, paused: bool) {
        let _context = self.runtime.enter();
        self.server.iter().for_each(|server| server.pause_garbage_collection(paused));
    }

    /// Moves the clock by an hour, forward or back.
    pub(super) fn jump(&self, back: bool) {
        const HOUR: i64 = 3600;
        self.clock.advance(if back { -HOUR } else { HOUR });
    }

    /// Performs a step of a user; returns a line about each action and the server's response.
    pub(super) fn perform(&self, step: &Step) -> Result<Vec<String>, String> {
        match step {
            Step::Apply(all) => all.iter().map(|object| self.apply(object)).collect(),
            Step::Delete(all) => all.iter().rev().map(|object| self.delete(object)).collect(),
            // The world performs this step, as it knows the objects.
            Step::RemoveMade => Ok(Vec::new()),
        }
    }

    fn apply(&self, object: &Value) -> Result<String, String> {
        let path = self.objects.path(object).map_err(|error| error.to_string())?;
        let uri = format!("{path}?fieldManager={USER}&force=true");
        let code = self.request(Method::PATCH, &uri, "application/apply-patch+yaml", object)?;
        Ok(format!("applies {path} → {code}"))
    }

    /// Reports whether the server takes an object.
    pub(super) fn takes(&self, object: &Value) -> bool {
        let Ok(path) = self.objects.path(object) else { return false };
        let uri = format!("{path}?fieldManager={USER}&force=true&fieldValidation=Strict");
        self.request(Method::PATCH, &uri, "application/apply-patch+yaml", object).is_ok()
    }

    /// Deletes an object; reports whether it is gone then.
    pub(super) fn is_rid_of(&self, object: &Value) -> bool {
        self.delete(object).is_ok() && self.objects.path(object).is_ok_and(|path| self.get(&path).is_none())
    }

    /// Deletes an object as kubectl does by default (`--cascade=background`): the server would leave the pods of a job.
    fn delete(&self, object: &Value) -> Result<String, String> {
        let path = self.objects.path(object).map_err(|error| error.to_string())?;
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        match self.request(Method::DELETE, &path, "application/json", &options) {
            Ok(code) => Ok(format!("deletes {path} → {code}")),
            Err(error) if error.contains("404") => Ok(format!("finds {path} gone")),
            Err(error) => Err(error),
        }
    }

    /// Changes an annotation, as a user may at any time; returns the object's UID if it exists.
    pub(super) fn touch(&self, path: &str) -> Option<String> {
        let patch = json!({"metadata": {"annotations": {super::state::TOUCHED: "touched"}}});
        self.request(Method::PATCH, path, "application/merge-patch+json", &patch).ok()?;
        Some(self.get(path)?["metadata"]["uid"].as_str()?.to_owned())
    }

    /// Lets pods or their node fail, or be well again: sets or removes the annotations of a fault.
    pub(super) fn fail_pods(&self, fault: PodFault, fails: bool) {
        let (api, kind) = fault.annotated();
        for object in self.objects.list(api, kind, "").unwrap_or_default() {
            let annotations = fault.annotations(&object, fails);
            if annotations.is_empty() {
                continue;
            }
            let patch = json!({"metadata": {"annotations": annotations}});
            if let Ok(path) = self.objects.path(&object) {
                // The object may be gone.
                drop(self.request(Method::PATCH, &path, "application/merge-patch+json", &patch));
            }
        }
    }

    /// Returns the object at a path.
    pub(super) fn get(&self, path: &str) -> Option<Value> {
        let (parts, ()) = Request::get(path).header("user-agent", USER).body(()).ok()?.into_parts();
        let response = self.send(parts, Bytes::new());
        let is_there = response.status().is_success();
        let body = self.collect(response.into_body());
        serde_json::from_slice(&body).ok().filter(|_| is_there)
    }

    /// Returns an object of a collection as it was at a version.
    pub(super) fn at(&self, collection: &str, name: &str, version: u64) -> Option<Value> {
        match parse_path(&format!("{collection}/{name}")) {
            Ok(Target::Resource(path)) => self.objects.at(&path, version).ok()?,
            _ => None,
        }
    }

    /// Reports whether any of these objects is terminating.
    pub(super) fn is_deleting(&self, objects: &[Value]) -> bool {
        let mut paths = objects.iter().filter_map(|object| self.objects.path(object).ok());
        paths.any(|path| {
            self.get(&path).is_some_and(|object| !object["metadata"]["deletionTimestamp"].is_null())
        })
    }

    /// Sends a user's request; returns the code, or the refusal.
    pub(super) fn request(&self, method: Method, uri: &str, kind: &str, body: &Value) -> Result<u16, String> {
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("content-type", kind)
            .header("user-agent", USER);
        let (parts, ()) = request.body(()).map_err(|error| error.to_string())?.into_parts();
        let response = self.send(parts, body);
        let code = response.status().as_u16();
        if response.status().is_success() {
            return Ok(code);
        }
        let text = self.collect(response.into_body());
        Err(format!("the user's request {uri} is refused with {code}: {}", String::from_utf8_lossy(&text)))
    }

    /// Returns the objects of these resources, each a group and a plural name.
    pub(super) fn state(&self, resources: &BTreeSet<(String, String)>) -> Vec<((String, String), Value)> {
        let mut all = Vec::new();
        for resource in resources {
            let objects = self.objects.of_resource(&resource.0, &resource.1).unwrap_or_default();
            all.extend(objects.into_iter().map(|object| (resource.clone(), object)));
        }
        all
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _context = self.runtime.enter();
        self.server = None;
    }
}
