//! Owners and dependents: what the garbage collector does in a cluster.
//!
//! Deletions queue up and are worked off by whoever finds the queue idle, so that a long chain of owners does not become a
//! deep recursion.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::meta;
use crate::registry::ResourceDef;
use crate::server::Server;
use crate::store::Object;
use crate::verbs::delete;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// What has to be looked at.
#[derive(Debug)]
enum Work {
    /// The object is marked as being deleted.
    Marked(Arc<Object>),
    Removed(Arc<Object>),
    /// The object is new, or has other owners than before.
    Owned(Arc<ResourceDef>, String),
}

/// Deletions that dependents have not followed.
#[derive(Debug, Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Work>,
    busy: bool,
}

/// An object has been marked as being deleted.
pub(crate) fn marked(server: &Arc<Server>, object: Arc<Object>) {
    run(server, Work::Marked(object));
}

/// An object is gone.
pub(crate) fn removed(server: &Arc<Server>, object: Arc<Object>) {
    run(server, Work::Removed(object));
}

/// An object was written: where its owners have gone already, nobody else would find it.
pub(crate) fn written(
    server: &Arc<Server>,
    def: &Arc<ResourceDef>,
    key: &str,
    object: &Arc<Object>,
    before: Option<&Value>,
) {
    let references = |object: &Value| object["metadata"]["ownerReferences"].clone();
    let owners = references(&object.value);
    if !owners.is_null() && before.map(references).as_ref() != Some(&owners) {
        run(server, Work::Owned(def.clone(), key.to_owned()));
    }
}

fn run(server: &Arc<Server>, work: Work) {
    let lock = || server.garbage.0.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut state = lock();
        state.waiting.push_back(work);
        if std::mem::replace(&mut state.busy, true) {
            return;
        }
    }
    loop {
        let mut state = lock();
        let Some(work) = state.waiting.pop_front() else {
            state.busy = false;
            return;
        };
        drop(state);
        match work {
            Work::Marked(object) => follow_marked(server, &object.value),
            Work::Removed(object) => follow_removed(server, &object.value),
            // It may have other owners by now, or be another object.
            Work::Owned(def, key) => {
                if let Some(object) = server.store.get(&def.collection, &key) {
                    check_owners(server, &def, &key, &object.value);
                }
            }
        }
    }
}

/// Dependents of an object that is being deleted go first, or are let go.
fn follow_marked(server: &Arc<Server>, owner: &Value) {
    let finalizers = meta::finalizers(owner);
    let uid = meta::text(owner, "uid");
    if finalizers.contains(&ORPHAN) {
        for (def, key, _) in dependents(server, owner) {
            disown(server, &def, &key, uid);
        }
        release(server, owner, ORPHAN);
    } else if finalizers.contains(&FOREGROUND) {
        for (def, key, _) in dependents(server, owner) {
            delete::delete_quietly(server, &def, &key);
        }
        finish_foreground(server, owner);
    }
}

/// Dependents of an object that is gone lose their owner, and go with their last one.
fn follow_removed(server: &Arc<Server>, owner: &Value) {
    let uid = meta::text(owner, "uid");
    for (def, key, dependent) in dependents(server, owner) {
        let others = owners(&dependent.value)
            .filter(|o| o["uid"] != uid)
            .any(|o| find_owner(server, &dependent.value, o).is_some());
        if others {
            disown(server, &def, &key, uid);
        } else {
            delete::delete_quietly(server, &def, &key);
        }
    }
    for reference in owners(owner) {
        if let Some((_, _, parent)) = find_owner(server, owner, reference) {
            finish_foreground(server, &parent.value);
        }
    }
}

/// Takes owners that are gone out of an object's references; the object goes when there are no others. Of owners whose kind
/// is not known nobody can tell.
pub(crate) fn check_owners(server: &Arc<Server>, def: &ResourceDef, key: &str, dependent: &Value) {
    let stored = server.registry().stored();
    let is_known = |owner: &Value| stored.iter().any(|def| is_of(def, &owner["kind"], &owner["apiVersion"]));
    let (here, gone): (Vec<&Value>, Vec<&Value>) = owners(dependent)
        .partition(|owner| !is_known(owner) || find_owner(server, dependent, owner).is_some());
    if here.is_empty() && !gone.is_empty() {
        delete::delete_quietly(server, def, key);
        return;
    }
    for uid in gone.iter().filter_map(|owner| owner["uid"].as_str()) {
        disown(server, def, key, uid);
    }
}

/// Lets an owner go that waits for dependents, when there are none left that block it.
fn finish_foreground(server: &Arc<Server>, owner: &Value) {
    if !meta::is_terminating(owner) || !meta::finalizers(owner).contains(&FOREGROUND) {
        return;
    }
    let uid = meta::text(owner, "uid");
    let blocked = dependents(server, owner)
        .iter()
        .any(|(_, _, d)| owners(&d.value).any(|o| o["uid"] == uid && o["blockOwnerDeletion"] == true));
    if !blocked {
        release(server, owner, FOREGROUND);
    }
}

fn release(server: &Arc<Server>, owner: &Value, finalizer: &str) {
    if let Some((def, key, _)) = find(server, owner) {
        delete::release(server, &def, &key, finalizer);
    }
}

fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

type Found = (Arc<ResourceDef>, String, Arc<Object>);

/// The stored form of an object that is at hand.
fn find(server: &Server, object: &Value) -> Option<Found> {
    let (kind, version) = (object["kind"].as_str()?, object["apiVersion"].as_str()?);
    by_kind(server, kind, version, meta::namespace(object), meta::name(object), meta::text(object, "uid"))
}

/// The owner that a reference names; owners are in the same namespace or in none.
fn find_owner(server: &Server, dependent: &Value, reference: &Value) -> Option<Found> {
    let (kind, version) = (reference["kind"].as_str()?, reference["apiVersion"].as_str()?);
    let (name, uid) = (reference["name"].as_str()?, reference["uid"].as_str()?);
    by_kind(server, kind, version, meta::namespace(dependent), name, uid)
}

fn by_kind(
    server: &Server,
    kind: &str,
    version: &str,
    namespace: &str,
    name: &str,
    uid: &str,
) -> Option<Found> {
    let def = server
        .registry()
        .stored()
        .iter()
        .find(|def| def.kind == kind && def.group == group_of(version))?
        .clone();
    let key = def.key(namespace, name);
    let object = server.store.get(&def.collection, &key)?;
    (meta::text(&object.value, "uid") == uid).then_some((def, key, object))
}

fn group_of(version: &str) -> &str {
    version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// Whether objects of this kind, in whatever version of its group, are the definition's.
fn is_of(def: &ResourceDef, kind: &Value, version: &Value) -> bool {
    *kind == def.kind.as_str() && version.as_str().is_some_and(|version| group_of(version) == def.group)
}

/// Objects that name `owner` as one of theirs.
fn dependents(server: &Server, owner: &Value) -> Vec<Found> {
    let (uid, namespace) = (meta::text(owner, "uid"), meta::namespace(owner));
    let mut out = Vec::new();
    for def in server.registry().stored().iter().filter(|def| namespace.is_empty() || def.namespaced) {
        let prefix = def.prefix(namespace);
        let own = server.store.dependents(&def.collection, uid).into_iter();
        let own = own.filter(|(key, _)| key.starts_with(&prefix));
        out.extend(own.map(|(key, object)| (def.clone(), key.to_string(), object)));
    }
    out
}

/// Takes an owner out of an object's references.
fn disown(server: &Server, def: &ResourceDef, key: &str, uid: &str) {
    server.modify(&def.collection, key, |object| {
        let mut next = object.clone();
        let list = next["metadata"]["ownerReferences"].as_array_mut()?;
        let before = list.len();
        list.retain(|owner| owner["uid"] != uid);
        if list.len() == before {
            return None;
        }
        if list.is_empty() {
            meta::remove(&mut next, "ownerReferences");
        }
        Some(next)
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api_server::{ApiServer, ApiServerOptions};

    #[tokio::test]
    async fn owners_are_those_that_an_object_has_when_its_turn_comes() {
        let running = ApiServer::start(ApiServerOptions::default()).unwrap();
        let server = running.server();
        let def = server.registry().find("", "v1", "configmaps").unwrap();
        let key = def.key("default", "a");
        let map = |owners: Value| {
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "namespace": "default", "uid": "a", "ownerReferences": owners}})
        };
        let gone = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "b", "uid": "gone"}]);
        let owned = server.store.create(&def.collection, &key, map(gone)).unwrap();

        // Somebody else is working the queue off when the object is noted.
        server.garbage.0.lock().unwrap().busy = true;
        written(server, &def, &key, &owned, None);
        server.store.update(&def.collection, &key, owned.rv, map(Value::Null)).unwrap();
        server.garbage.0.lock().unwrap().busy = false;
        removed(server, owned);
        assert!(server.store.get(&def.collection, &key).is_some(), "it has no owner any longer");
    }
}
