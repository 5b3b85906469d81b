//! What happens to stored objects: the effects of a write on the rest of the server, and deletions with all that follows from
//! them.

mod aftermath;
pub(crate) mod garbage;
mod namespaces;
mod options;

use std::sync::Arc;

use serde_json::Value;

use crate::registry::ResourceDef;
use crate::server::Server;
use crate::store::Object;
use crate::{conversion, crd, definitions, meta};

pub(crate) use aftermath::{after_write, mark, remove, resume};
pub(crate) use options::DeleteOptions;

/// Propagates a write to the rest of the server; `before` is the previous object.
pub(crate) fn written(
    server: &Arc<Server>,
    def: &Arc<ResourceDef>,
    key: &str,
    object: &Arc<Object>,
    before: Option<&Value>,
) {
    conversion::written(def, object);
    after_write(server, def);
    if server.options().controllers {
        garbage::written(server, def, key, object, before);
    }
}

/// The effect of a deletion on an object.
pub(crate) enum Deletion {
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
pub(crate) fn deletion(
    server: &Server,
    def: &ResourceDef,
    object: &Value,
    options: &DeleteOptions,
) -> Deletion {
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
pub(crate) fn is_held(def: &ResourceDef, object: &Value) -> bool {
    let namespace =
        def.collection == "namespaces" && !meta::strings(&object["spec"]["finalizers"]).is_empty();
    namespace || !meta::finalizers(object).is_empty()
}

/// Reports whether an update removes the object: it is terminating, its grace period is over, and nothing holds it any
/// more (`ShouldDeleteDuringUpdate` of apiserver/pkg/registry/generic/registry/store.go).
pub(crate) fn goes_with_update(def: &ResourceDef, before: &Value, after: &Value) -> bool {
    let waits = before["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or_default() > 0;
    meta::is_terminating(before) && !waits && !is_held(def, after)
}
