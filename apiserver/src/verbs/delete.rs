//! DELETE of one object, and what follows when an object goes.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::read;
use crate::admission::{self, Attributes, Operation, Options};
use crate::conversion;
use crate::http::query::{self, Query};
use crate::http::reply::Reply;
use crate::http::{decode, protobuf};
use crate::registry::{Behaviour, ResourceDef};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};
use crate::store::{Object, WriteError};
use crate::{crd, meta};

const RETRIES: usize = 1000;
/// Namespaces that every cluster keeps.
const IMMORTAL: &[&str] = &["default", "kube-public", "kube-system"];

/// `DeleteOptions`, from the body or the query.
#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    uid: Option<String>,
    resource_version: Option<String>,
    propagation: Option<String>,
    orphan: Option<bool>,
    grace: Option<i64>,
    pub(super) dry_run: bool,
}

impl DeleteOptions {
    /// # Errors
    /// `BadRequest` for a body that is none, `Invalid` for options that make no sense.
    pub(super) fn parse(call: &Call<'_>) -> ApiResult<Self> {
        let mut causes = Vec::new();
        let mut options = Self { dry_run: query::dry_run(&call.query, &mut causes), ..Self::default() };
        options.propagation = Some(call.query.get("propagationPolicy").to_owned()).filter(|p| !p.is_empty());
        if !call.query.get("orphanDependents").is_empty() {
            options.orphan = Some(call.query.flag("orphanDependents"));
        }
        options.grace = call.query.number("gracePeriodSeconds")?;
        if !call.body.is_empty() {
            options.read(&body(&call.body)?, &mut causes);
        }
        options.check(&mut causes);
        if causes.is_empty() { Ok(options) } else { Err(ApiError::invalid_options("DeleteOptions", causes)) }
    }

    /// Options that stand in another object.
    ///
    /// # Errors
    /// `Invalid` for options that make no sense.
    pub(super) fn of(body: &Value) -> ApiResult<Self> {
        let (mut options, mut causes) = (Self::default(), Vec::new());
        options.read(body, &mut causes);
        options.check(&mut causes);
        if causes.is_empty() { Ok(options) } else { Err(ApiError::invalid_options("DeleteOptions", causes)) }
    }

    fn read(&mut self, body: &Value, causes: &mut Vec<Cause>) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.uid = text(&body["preconditions"]["uid"]);
        self.resource_version = text(&body["preconditions"]["resourceVersion"]);
        self.propagation = text(&body["propagationPolicy"]).or(self.propagation.take());
        self.grace = body["gracePeriodSeconds"].as_i64().or(self.grace);
        self.orphan = body["orphanDependents"].as_bool().or(self.orphan);
        let pairs: Vec<String> =
            meta::strings(&body["dryRun"]).into_iter().map(|v| format!("dryRun={v}")).collect();
        self.dry_run |= query::dry_run(&Query::parse(&pairs.join("&")), causes);
    }

    /// The options as an object.
    fn to_value(&self) -> Value {
        let mut value = json!({"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"});
        let mut preconditions = Map::new();
        for (key, text) in [("uid", &self.uid), ("resourceVersion", &self.resource_version)] {
            preconditions.extend(text.as_ref().map(|text| (key.to_owned(), json!(text))));
        }
        for (key, given) in [
            ("gracePeriodSeconds", self.grace.map(Value::from)),
            ("preconditions", (!preconditions.is_empty()).then_some(Value::Object(preconditions))),
            ("orphanDependents", self.orphan.map(Value::from)),
            ("propagationPolicy", self.propagation.clone().map(Value::from)),
            ("dryRun", self.dry_run.then(|| json!(["All"]))),
        ] {
            if let Some(given) = given {
                value[key] = given;
            }
        }
        value
    }

    /// How long a pod that a node runs may take to end; `None` when the object need not be waited for.
    fn grace_of(&self, def: &ResourceDef, object: &Value) -> Option<i64> {
        let node = object["spec"]["nodeName"].as_str().unwrap_or_default();
        let ended = matches!(object["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
        if def.collection != "pods" || node.is_empty() || ended {
            return None;
        }
        let own = object["spec"]["terminationGracePeriodSeconds"].as_i64();
        Some(self.grace.or(own).unwrap_or(30)).filter(|seconds| *seconds > 0)
    }

    fn check(&self, causes: &mut Vec<Cause>) {
        if let Some(policy) = &self.propagation {
            if !matches!(policy.as_str(), "Foreground" | "Background" | "Orphan") {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                causes.push(Cause::not_supported("propagationPolicy", &format!("{policy:?}"), &supported));
            }
            if self.orphan.is_some() {
                let text = "orphanDependents and deletionPropagation cannot be both set";
                causes.push(Cause::invalid("propagationPolicy", format!("{policy:?}"), text));
            }
        }
    }

    /// The finalizer that the propagation policy puts on the object.
    fn finalizer(&self) -> Option<&'static str> {
        match self.propagation.as_deref() {
            Some("Foreground") => Some("foregroundDeletion"),
            Some("Orphan") => Some("orphan"),
            None if self.orphan == Some(true) => Some("orphan"),
            _ => None,
        }
    }

    fn check_preconditions(&self, def: &ResourceDef, object: &Value) -> ApiResult<()> {
        let about = def.about_kind(meta::name(object));
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != meta::text(object, "uid")) {
            let text = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
                 deleted and then recreated",
                meta::text(object, "uid")
            );
            return Err(ApiError::conflict(about, &text));
        }
        let rv = self.resource_version.as_deref();
        if let Some(rv) = rv.filter(|rv| *rv != meta::text(object, "resourceVersion")) {
            let text = format!(
                "the ResourceVersion in the precondition ({rv}) does not match the ResourceVersion in record ({}). The \
                 object might have been modified",
                meta::text(object, "resourceVersion")
            );
            return Err(ApiError::conflict(about, &text));
        }
        Ok(())
    }
}

/// Reads a body that is no object of the resource.
pub(super) fn body(bytes: &[u8]) -> ApiResult<Value> {
    if bytes.starts_with(protobuf::MAGIC) {
        return protobuf::decode(bytes).map_err(ApiError::bad_request);
    }
    let decoded = decode::json(bytes).or_else(|e| decode::yaml(bytes).map_err(|_| e));
    Ok(decoded.map_err(ApiError::bad_request)?.value)
}

pub(super) async fn delete(call: &Call<'_>) -> ApiResult<Reply> {
    let options = DeleteOptions::parse(call)?;
    let def = &call.def;
    let key = def.key(&call.path.namespace, &call.path.name);
    let (object, gone) = delete_one(call, &key, &call.path.name, &options).await?;
    let returns = matches!(&def.behaviour, Behaviour::BuiltIn(b) if b.returns_deleted);
    if !gone || returns {
        return read::shown(call, 200, &object).await;
    }
    let mut details = json!({"name": call.path.name});
    if !def.group.is_empty() {
        details["group"] = json!(def.group);
    }
    details["kind"] = json!(def.plural);
    details["uid"] = object.value["metadata"]["uid"].clone();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    });
    Ok(Reply::value(200, &status, call.accepted.yaml))
}

/// Deletes an object, or marks it when something holds it; answers its last state and whether it is gone. `name` is the
/// one in the request.
pub(super) async fn delete_one(
    call: &Call<'_>,
    key: &str,
    name: &str,
    options: &DeleteOptions,
) -> ApiResult<(Arc<Object>, bool)> {
    let def = &call.def;
    let server = &call.server;
    for _ in 0..RETRIES {
        let Some(stored) = server.store.get(&def.collection, key) else {
            let name = key.rsplit('/').next().unwrap_or_default();
            return Err(ApiError::not_found(def.about(name)));
        };
        options.check_preconditions(def, &stored.value)?;
        if def.collection == "namespaces" && IMMORTAL.contains(&name) {
            return Err(ApiError::forbidden(def.about(name), "this namespace may not be deleted"));
        }
        ask_webhooks(call, name, &stored, options).await?;
        let mut marked = stored.value.clone();
        let finalizer = options.finalizer().filter(|f| !meta::finalizers(&stored.value).contains(f));
        if let Some(finalizer) = finalizer.filter(|_| !meta::is_terminating(&stored.value)) {
            let mut finalizers = meta::finalizers(&stored.value);
            finalizers.push(finalizer);
            meta::set_finalizers(&mut marked, &finalizers);
        }
        if def.collection == crd::COLLECTION && !meta::finalizers(&marked).contains(&crd::CLEANUP) {
            let mut finalizers = meta::finalizers(&stored.value);
            finalizers.push(crd::CLEANUP);
            meta::set_finalizers(&mut marked, &finalizers);
        }
        let grace = options.grace_of(def, &stored.value);
        let held = is_held(def, &marked) || grace.is_some();
        if options.dry_run {
            return Ok((stored, !held));
        }
        let done = if held {
            mark(server, def, key, &stored, marked, grace.unwrap_or(0))
        } else {
            remove(server, def, key, &stored)
        };
        match done {
            Ok(object) => return Ok((object, !held)),
            Err(WriteError::Conflict) => {}
            Err(_) => return Err(ApiError::not_found(def.about(meta::name(&stored.value)))),
        }
    }
    Err(ApiError::modified(def.about(&call.path.name)))
}

/// Puts the deletion to the admission webhooks.
async fn ask_webhooks(
    call: &Call<'_>,
    name: &str,
    stored: &Arc<Object>,
    options: &DeleteOptions,
) -> ApiResult<()> {
    // An eviction has been put to them as such.
    let asks_nobody = call.server.hooks().is_empty() || !call.path.subresource.is_empty();
    if asks_nobody && !conversion::is_by_webhook(&call.def) {
        return Ok(());
    }
    // What cannot be read cannot be deleted.
    let old = conversion::one(&call.server, &call.def, stored).await?;
    if asks_nobody {
        return Ok(());
    }
    let options_value = options.to_value();
    let attributes = Attributes {
        call,
        operation: Operation::Delete,
        name,
        old: Some(old.value()),
        options: Options::Delete(&options_value),
        dry_run: options.dry_run,
    };
    admission::mutate(&attributes, None).await?;
    admission::validate(&attributes, None).await
}

/// Whether something has to happen before the object may go.
pub(super) fn is_held(def: &ResourceDef, object: &Value) -> bool {
    let namespace =
        def.collection == "namespaces" && !meta::strings(&object["spec"]["finalizers"]).is_empty();
    namespace || !meta::finalizers(object).is_empty()
}

/// Marks an object as being deleted.
fn mark(
    server: &Arc<Server>,
    def: &ResourceDef,
    key: &str,
    stored: &Arc<Object>,
    mut marked: Value,
    grace: i64,
) -> Result<Arc<Object>, WriteError> {
    let object = if meta::is_terminating(&marked) {
        stored.clone()
    } else {
        let now = server.now();
        meta::set(&mut marked, "deletionTimestamp", server.later(grace));
        let generation = marked["metadata"]["generation"].as_i64();
        if def.collection != "namespaces" && def.collection != crd::COLLECTION {
            meta::set(&mut marked, "deletionGracePeriodSeconds", grace);
        }
        if let Some(generation) = generation.filter(|_| def.collection != crd::COLLECTION) {
            meta::set(&mut marked, "generation", generation + 1);
        }
        if def.collection == "namespaces" {
            marked["status"]["phase"] = Value::from("Terminating");
        }
        if def.collection == crd::COLLECTION {
            let text = "CustomResource deletion is in progress";
            crd::set_condition(&mut marked, "Terminating", true, "InstanceDeletionInProgress", text, &now);
        }
        server.store.update(&def.collection, key, stored.rv, marked)?
    };
    after_mark(server, def, &object);
    Ok(object)
}

/// What has to happen before an object that is being deleted may go.
fn after_mark(server: &Arc<Server>, def: &ResourceDef, object: &Arc<Object>) {
    if def.collection == "namespaces" && server.controllers() {
        empty_namespace(server, meta::name(&object.value));
    } else if def.collection == crd::COLLECTION {
        empty_crd(server, meta::name(&object.value));
    }
    if server.controllers() {
        crate::garbage::marked(server, object.clone());
    }
}

/// Goes on with deletions that an earlier run of the server did not finish.
pub(crate) fn resume(server: &Arc<Server>) {
    for def in server.registry().stored() {
        let Ok(snapshot) = server.store.list(&def.collection, "", None) else { continue };
        for (key, object) in snapshot.objects {
            if meta::is_terminating(&object.value) {
                after_mark(server, &def, &object);
            } else if server.controllers() {
                crate::garbage::check_owners(server, &def, &key, &object.value);
            }
        }
    }
}

/// Takes an object out of the store.
pub(super) fn remove(
    server: &Arc<Server>,
    def: &ResourceDef,
    key: &str,
    stored: &Arc<Object>,
) -> Result<Arc<Object>, WriteError> {
    let last = server.store.delete(&def.collection, key, stored.rv)?;
    after_remove(server, def, stored);
    Ok(last)
}

/// What a change of this resource changes elsewhere.
pub(super) fn after_write(server: &Server, def: &ResourceDef) {
    if def.collection == crd::COLLECTION {
        server.refresh();
    }
    if def.group == admission::GROUP {
        server.refresh_hooks();
    }
}

fn after_remove(server: &Arc<Server>, def: &ResourceDef, stored: &Arc<Object>) {
    let object = &stored.value;
    if def.collection == crd::COLLECTION {
        server.store.close(&crd::collection(object));
    }
    after_write(server, def);
    if let Behaviour::Custom(custom) = &def.behaviour {
        finish_crd(server, &custom.crd);
    }
    if server.controllers() {
        if def.namespaced {
            finish_namespace(server, meta::namespace(object));
        }
        crate::garbage::removed(server, stored.clone());
    }
}

/// Deletes an object as a controller would: marks it when it is held.
pub(crate) fn delete_quietly(server: &Arc<Server>, def: &ResourceDef, key: &str) {
    for _ in 0..RETRIES {
        let Some(stored) = server.store.get(&def.collection, key) else { return };
        let grace = DeleteOptions::default().grace_of(def, &stored.value);
        let done = if is_held(def, &stored.value) || grace.is_some() {
            mark(server, def, key, &stored, stored.value.clone(), grace.unwrap_or(0))
        } else {
            remove(server, def, key, &stored)
        };
        if !matches!(done, Err(WriteError::Conflict)) {
            return;
        }
    }
}

/// Takes a finalizer off an object that is being deleted; the object goes with its last one.
pub(crate) fn release(server: &Arc<Server>, def: &ResourceDef, key: &str, finalizer: &str) {
    for _ in 0..RETRIES {
        let Some(stored) = server.store.get(&def.collection, key) else { return };
        let finalizers = meta::finalizers(&stored.value);
        if !finalizers.contains(&finalizer) {
            return;
        }
        let rest: Vec<&str> = finalizers.into_iter().filter(|f| *f != finalizer).collect();
        let mut next = stored.value.clone();
        meta::set_finalizers(&mut next, &rest);
        let done = if meta::is_terminating(&next) && !is_held(def, &next) {
            remove(server, def, key, &stored)
        } else {
            server.store.update(&def.collection, key, stored.rv, next)
        };
        if !matches!(done, Err(WriteError::Conflict)) {
            return;
        }
    }
}

/// Deletes everything in a namespace that is being deleted, and the namespace when that worked.
fn empty_namespace(server: &Arc<Server>, name: &str) {
    let prefix = format!("{name}/");
    for def in server.registry().stored().iter().filter(|def| def.namespaced) {
        let Ok(snapshot) = server.store.list(&def.collection, &prefix, None) else { continue };
        for (key, _) in snapshot.objects {
            delete_quietly(server, def, &key);
        }
    }
    finish_namespace(server, name);
}

/// Lets a namespace go that is being deleted and empty.
fn finish_namespace(server: &Arc<Server>, name: &str) {
    let Some(namespace) = server.store.get("namespaces", name) else { return };
    if !meta::is_terminating(&namespace.value) {
        return;
    }
    let prefix = format!("{name}/");
    let registry = server.registry();
    let empty = registry.stored().iter().filter(|def| def.namespaced).all(|def| {
        server.store.list(&def.collection, &prefix, None).is_ok_and(|snapshot| snapshot.objects.is_empty())
    });
    if !empty {
        return;
    }
    let emptied = server.modify("namespaces", name, |namespace| {
        let mut next = namespace.clone();
        next["spec"].as_object_mut()?.remove("finalizers")?;
        Some(next)
    });
    let Some(emptied) = emptied.filter(|n| meta::finalizers(&n.value).is_empty()) else { return };
    if let Some(def) = registry.find("", "v1", "namespaces") {
        // Somebody who was faster has done the same.
        let _ = remove(server, &def, name, &emptied);
    }
}

/// Deletes the objects of a CRD that is being deleted, and the CRD when that worked.
fn empty_crd(server: &Arc<Server>, name: &str) {
    let registry = server.registry();
    let defs: Vec<Arc<ResourceDef>> = registry.stored();
    let own = defs.iter().find(|def| matches!(&def.behaviour, Behaviour::Custom(c) if c.crd == name));
    if let Some(def) = own
        && let Ok(snapshot) = server.store.list(&def.collection, "", None)
    {
        for (key, _) in snapshot.objects {
            delete_quietly(server, def, &key);
        }
    }
    finish_crd(server, name);
}

/// Lets a CRD go that is being deleted and has no objects.
fn finish_crd(server: &Arc<Server>, name: &str) {
    let Some(stored) = server.store.get(crd::COLLECTION, name) else { return };
    if !meta::is_terminating(&stored.value) {
        return;
    }
    let left = server.store.list(&crd::collection(&stored.value), "", None);
    if !left.is_ok_and(|snapshot| snapshot.objects.is_empty()) {
        return;
    }
    let freed = server.modify(crd::COLLECTION, name, |crd| {
        let finalizers = meta::finalizers(crd);
        let rest: Vec<&str> = finalizers.iter().copied().filter(|f| *f != crd::CLEANUP).collect();
        if rest.len() == finalizers.len() {
            return None;
        }
        let mut next = crd.clone();
        meta::set_finalizers(&mut next, &rest);
        Some(next)
    });
    let Some(freed) = freed.filter(|crd| meta::finalizers(&crd.value).is_empty()) else { return };
    if let Some(def) = server.registry().find(crd::GROUP, "v1", crd::PLURAL) {
        // Somebody who was faster has done the same.
        let _ = remove(server, &def, name, &freed);
    }
}
