//! DELETE of one object.

mod aftermath;
mod namespaces;
mod options;

use std::sync::Arc;

use serde_json::{Value, json};

use super::read;
use super::write::{self, Storage, Write};
use crate::admission::{Attributes, Operation, Options, is_system_priority_class};
use crate::conversion::Served;
use crate::http::reply::Reply;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{Object, WriteError};
use crate::{crd, definitions, meta};

pub(super) use aftermath::{after_write, mark, remove};
pub(crate) use aftermath::{delete_quietly, release, resume};
pub(crate) use namespaces::{continue_namespace, empty_namespace};
pub(super) use options::DeleteOptions;

pub(super) async fn delete(call: &Call<'_>) -> ApiResult<Reply> {
    let options = DeleteOptions::parse(call)?;
    options.warn_of_orphans(call);
    let def = &call.def;
    // `Delete` of pkg/registry/scheduling/priorityclass/storage, which deletions of collections do not call.
    if def.collection == "priorityclasses.scheduling.k8s.io" && is_system_priority_class(&call.path.name) {
        let text = "this is a system priority class and cannot be deleted";
        return Err(ApiError::forbidden(def.subject(&call.path.name), text));
    }
    let key = def.key(&call.path.namespace, &call.path.name);
    let (object, gone) = delete_one(call, &key, &call.path.name, &options).await?;
    let returns = matches!(&def.behaviour, Behaviour::BuiltIn(b) if b.returns_deleted);
    if !gone || returns {
        // endpoints/handlers/delete.go: 202 only for the old option, as other clients do not expect it.
        let accepted = !gone && options.orphan == Some(false);
        return read::shown(call, if accepted { 202 } else { 200 }, &object).await;
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
    Ok(Reply::value(200, &status, call.accepted.form))
}

/// Deletes an object, or marks it when something holds it; returns its last state and whether it is gone. `name` is the
/// one in the request.
pub(super) async fn delete_one(
    call: &Call<'_>,
    key: &str,
    name: &str,
    options: &DeleteOptions,
) -> ApiResult<(Arc<Object>, bool)> {
    let sent = options.to_value();
    let request = Attributes {
        call,
        operation: Operation::Delete,
        name,
        old: None,
        options: Options::Delete(&sent),
        dry_run: options.dry_run,
    };
    write::run(request, &mut Delete { call, key, options }).await
}

/// A deletion.
struct Delete<'a> {
    call: &'a Call<'a>,
    key: &'a str,
    options: &'a DeleteOptions,
}

impl Write for Delete<'_> {
    /// The last state, and whether the object is gone.
    type Done = (Arc<Object>, bool);

    fn stored(&mut self) -> ApiResult<Option<Arc<Object>>> {
        let def = &self.call.def;
        let stored = self.call.server.store.get(&def.collection, self.key);
        let name = || self.key.rsplit('/').next().unwrap_or_default();
        stored.map(Some).ok_or_else(|| write::missing(def, name()))
    }

    async fn wanted(&mut self, _: Option<&Value>) -> ApiResult<Option<Value>> {
        Ok(None)
    }

    fn prepare(&mut self, current: Option<&Served>, _: Option<&mut Value>) -> ApiResult<()> {
        current.map_or(Ok(()), |current| self.options.check_preconditions(&self.call.def, current.value()))
    }

    fn commit(
        &mut self,
        storage: &Storage<'_>,
        stored: Option<&Arc<Object>>,
        _: Option<Value>,
    ) -> ApiResult<Option<Self::Done>> {
        stored.map_or(Ok(None), |stored| {
            carry_out(storage, &self.call.server, &self.call.def, self.key, stored, self.options)
        })
    }
}

/// Removes or marks an object, unless it changed since it was read: then `None`.
///
/// # Errors
/// Returns `NotFound` if it does not exist any more.
pub(super) fn carry_out(
    storage: &Storage<'_>,
    server: &Server,
    def: &Arc<ResourceDef>,
    key: &str,
    stored: &Arc<Object>,
    options: &DeleteOptions,
) -> ApiResult<Option<(Arc<Object>, bool)>> {
    let done = match deletion(server, def, &stored.value, options) {
        Deletion::Pending => Ok((stored.clone(), false)),
        Deletion::Mark(marked) => storage.mark(def, key, stored, marked).map(|object| (object, false)),
        Deletion::MarkAndRemove(marked) => storage
            .mark(def, key, stored, marked)
            .map(|marked| (storage.remove_marked(def, key, marked), true)),
        Deletion::Now => storage.remove(def, key, stored).map(|object| (object, true)),
    };
    match done {
        Ok(done) => Ok(Some(done)),
        Err(WriteError::Conflict) => Ok(None),
        Err(_) => Err(ApiError::not_found(def.subject(meta::name(&stored.value)))),
    }
}

/// The effect of a deletion on an object.
enum Deletion {
    /// It is terminating already.
    Pending,
    /// It is marked, and stays until its finalizers or its grace period are over.
    Mark(Value),
    /// It is marked and then removed, so that watches see both: a pod that has no time to end (`CheckGracefulDelete` of
    /// pkg/registry/core/pod/strategy.go, and `updateForGracefulDeletionAndFinalizers` of the store).
    MarkAndRemove(Value),
    /// It is removed at once.
    Now,
}

/// Decides the effect: `BeforeDelete` and the store's `Delete` (registry/rest/delete.go, registry/generic/registry/store.go).
fn deletion(server: &Server, def: &ResourceDef, object: &Value, options: &DeleteOptions) -> Deletion {
    let mut next = object.clone();
    let finalizers = options.finalizers(def, object);
    let finalizers: Vec<&str> = finalizers.iter().map(String::as_str).collect();
    if finalizers != meta::finalizers(object) {
        meta::set_finalizers(&mut next, &finalizers);
    }
    if def.collection == crd::COLLECTION && !meta::is_terminating(object) {
        let mut finalizers = finalizers;
        if !finalizers.contains(&crd::CLEANUP) {
            finalizers.push(crd::CLEANUP);
        }
        meta::set_finalizers(&mut next, &finalizers);
    }
    let grace = match grace(def, object, options) {
        Grace::Pending => return Deletion::Pending,
        Grace::Shorter(seconds) => {
            shorten(&mut next, seconds);
            let goes = seconds == 0 && !is_held(def, &next);
            return if goes { Deletion::MarkAndRemove(next) } else { Deletion::Mark(next) };
        }
        Grace::Seconds(seconds) => seconds,
    };
    // A namespace is marked first, whatever holds it (`Delete` of pkg/registry/core/namespace/storage).
    let is_new = def.collection == "namespaces" && !meta::is_terminating(object);
    let goes = grace == 0 && !is_held(def, &next) && !is_new;
    if goes && (def.collection != "pods" || meta::is_terminating(object)) {
        return Deletion::Now;
    }
    mark_as_deleting(server, def, &mut next, grace);
    if goes {
        return Deletion::MarkAndRemove(next);
    }
    if next == *object { Deletion::Pending } else { Deletion::Mark(next) }
}

/// The grace period of a deletion.
enum Grace {
    /// A grace period runs, and the request does not shorten it.
    Pending,
    /// The request shortens the grace period that runs.
    Shorter(i64),
    /// A new grace period, in seconds.
    Seconds(i64),
}

/// Returns the grace period, which only pods on a node have.
fn grace(def: &ResourceDef, object: &Value, options: &DeleteOptions) -> Grace {
    // Negative values count as one second.
    let seconds = |value: i64| if value < 0 { 1 } else { value };
    let asked = options.grace.map(seconds);
    if def.collection != "pods" {
        return Grace::Seconds(0);
    }
    let running = object["metadata"]["deletionGracePeriodSeconds"].as_i64().map_or(0, seconds);
    if meta::is_terminating(object) {
        return match asked {
            _ if running == 0 => Grace::Seconds(0),
            Some(asked) if asked < running => Grace::Shorter(asked),
            _ => Grace::Pending,
        };
    }
    let node = object["spec"]["nodeName"].as_str().unwrap_or_default();
    let ended = matches!(object["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
    if node.is_empty() || ended {
        return Grace::Seconds(0);
    }
    let own = object["spec"]["terminationGracePeriodSeconds"].as_i64().map(seconds);
    Grace::Seconds(asked.or(own).unwrap_or(0))
}

/// Moves the end of the grace period to this number of seconds after its start.
fn shorten(object: &mut Value, seconds: i64) {
    let running = object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    let end: Option<jiff::Timestamp> = meta::text(object, "deletionTimestamp").parse().ok();
    let shorter =
        end.and_then(|end| end.checked_sub(jiff::SignedDuration::from_secs(running - seconds)).ok());
    if let Some(end) = shorter {
        meta::set(object, "deletionTimestamp", crate::clock::rfc3339(end));
    }
    meta::set(object, "deletionGracePeriodSeconds", seconds);
}

fn mark_as_deleting(server: &Server, def: &ResourceDef, object: &mut Value, grace: i64) {
    if meta::is_terminating(object) {
        return;
    }
    meta::set(object, "deletionTimestamp", server.later(grace));
    if def.collection == "namespaces" {
        object["status"]["phase"] = Value::from("Terminating");
    } else if def.collection == crd::COLLECTION {
        let text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        definitions::set_condition(
            object,
            "Terminating",
            true,
            "InstanceDeletionPending",
            text,
            &server.now(),
        );
        return;
    } else {
        meta::set(object, "deletionGracePeriodSeconds", grace);
    }
    if let Some(generation) = object["metadata"]["generation"].as_i64() {
        meta::set(object, "generation", generation + 1);
    }
}

/// Reports whether finalizers or a grace period block the removal of the object.
pub(super) fn is_held(def: &ResourceDef, object: &Value) -> bool {
    let namespace =
        def.collection == "namespaces" && !meta::strings(&object["spec"]["finalizers"]).is_empty();
    namespace || !meta::finalizers(object).is_empty()
}

/// Reports whether an update removes the object: it is terminating, its grace period is over, and nothing holds it any
/// more (`ShouldDeleteDuringUpdate` of apiserver/pkg/registry/generic/registry/store.go).
pub(super) fn goes_with_update(def: &ResourceDef, before: &Value, after: &Value) -> bool {
    let waits = before["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or_default() > 0;
    meta::is_terminating(before) && !waits && !is_held(def, after)
}
