//! Owners and dependents, and terminating namespaces: the garbage collector and the namespace controller.
//!
//! Deletions are queued, and the first caller that finds the queue idle handles them, so that a long chain of owners
//! does not recurse deeply.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::{aftermath, namespaces};
use crate::meta;
use crate::registry::ResourceDef;
use crate::server::{Server, Work};
use crate::store::Object;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// Handles an object that was marked as being deleted.
pub(super) fn marked(server: &Arc<Server>, object: Arc<Object>) {
    run(server, Work::Marked(object));
}

/// Handles an object that was removed.
pub(super) fn removed(server: &Arc<Server>, object: Arc<Object>) {
    run(server, Work::Removed(object));
}

/// Empties a terminating namespace.
pub(super) fn namespace(server: &Arc<Server>, name: &str) {
    run(server, Work::Namespace(name.to_owned()));
}

/// Keeps the content of a terminating namespace until this time. [`namespace_when_due`] ends it.
pub(super) fn keep_namespace(server: &Server, name: &str, until: Instant) {
    let mut state = server.garbage.lock();
    state.kept.insert(name.to_owned(), until);
}

/// Empties a terminating namespace, unless its content is kept for longer: another namespace of its name was deleted since.
pub(super) fn namespace_when_due(server: &Arc<Server>, name: &str) {
    let mut state = server.garbage.lock();
    if state.kept.get(name).is_some_and(|until| *until > Instant::now()) {
        return;
    }
    state.kept.remove(name);
    drop(state);
    namespace(server, name);
}

/// Removes a terminating namespace if nothing is left in it.
pub(super) fn emptied(server: &Arc<Server>, name: &str) {
    let namespace = server.store.get("namespaces", name);
    if !namespace.is_some_and(|namespace| meta::is_terminating(&namespace.value)) {
        return;
    }
    let mut state = server.garbage.lock();
    let is_due = !state.kept.contains_key(name) && state.emptied.insert(name.to_owned());
    drop(state);
    if is_due {
        run(server, Work::Emptied(name.to_owned()));
    }
}

/// Handles a written object: its owners may be gone already, and no deletion would lead to it.
pub(super) fn written(
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

/// Stops the collector, or lets it continue with everything that has happened meanwhile.
pub(crate) fn pause(server: &Arc<Server>, paused: bool) {
    let mut state = server.garbage.lock();
    state.paused = paused;
    drop(state);
    work(server);
}

fn run(server: &Arc<Server>, next: Work) {
    let mut state = server.garbage.lock();
    state.waiting.push_back(next);
    drop(state);
    work(server);
}

/// Handles the queue, unless a caller does so already.
fn work(server: &Arc<Server>) {
    let lock = || server.garbage.lock();
    if std::mem::replace(&mut lock().busy, true) {
        return;
    }
    loop {
        let mut state = lock();
        let next = if state.paused { None } else { state.waiting.pop_front() };
        let Some(work) = next else {
            state.busy = false;
            return;
        };
        if let Work::Emptied(name) = &work {
            state.emptied.remove(name);
        }
        drop(state);
        match work {
            Work::Marked(object) => follow_marked(server, &object.value),
            Work::Removed(object) => follow_removed(server, &object.value),
            Work::Namespace(name) => namespaces::empty_namespace(server, &name),
            Work::Emptied(name) => namespaces::continue_namespace(server, &name),
            // It may have other owners by now, or be another object.
            Work::Owned(def, key) => {
                if let Some(object) = server.store.get(&def.collection, &key) {
                    check_owners(server, &def, &key, &object.value);
                }
            }
        }
    }
}

/// Deletes or orphans the dependents of a terminating object first.
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
            aftermath::delete_quietly(server, &def, &key);
        }
        finish_foreground(server, owner);
    }
}

/// Removes a deleted owner from its dependents' references; a dependent is deleted with its last owner.
fn follow_removed(server: &Arc<Server>, owner: &Value) {
    let uid = meta::text(owner, "uid");
    for (def, key, dependent) in dependents(server, owner) {
        if has_unresolvable_owner(server, &def, &dependent.value) {
            continue;
        }
        let others = owners(&dependent.value)
            .filter(|o| o["uid"] != uid)
            .any(|o| find_owner(server, &dependent.value, o).is_some());
        if others {
            disown(server, &def, &key, uid);
        } else {
            aftermath::delete_quietly(server, &def, &key);
        }
    }
    for reference in owners(owner) {
        if let Some((_, _, parent)) = find_owner(server, owner, reference) {
            finish_foreground(server, &parent.value);
        }
    }
}

/// Removes missing owners from an object's references, and deletes the object if there are no others. Owners of an
/// unknown kind count as existing.
pub(super) fn check_owners(server: &Arc<Server>, def: &ResourceDef, key: &str, dependent: &Value) {
    if has_unresolvable_owner(server, def, dependent) {
        return;
    }
    let stored = server.registry().stored();
    let is_known = |owner: &Value| stored.iter().any(|def| is_of(def, &owner["kind"], &owner["apiVersion"]));
    let (here, gone): (Vec<&Value>, Vec<&Value>) = owners(dependent)
        .partition(|owner| !is_known(owner) || find_owner(server, dependent, owner).is_some());
    if here.is_empty() && !gone.is_empty() {
        aftermath::delete_quietly(server, def, key);
        return;
    }
    for uid in gone.iter().filter_map(|owner| owner["uid"].as_str()) {
        disown(server, def, key, uid);
    }
}

/// Reports whether a cluster-scoped object names an owner of a namespaced kind. The collector then leaves it alone for good:
/// `namespacedOwnerOfClusterScopedObjectErr` in garbagecollector.go.
fn has_unresolvable_owner(server: &Server, def: &ResourceDef, dependent: &Value) -> bool {
    let stored = server.registry().stored();
    let is_namespaced = |owner: &Value| {
        stored.iter().any(|def| def.namespaced && is_of(def, &owner["kind"], &owner["apiVersion"]))
    };
    !def.namespaced && owners(dependent).any(is_namespaced)
}

/// Deletes a terminating owner when no dependents block it any more.
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
        aftermath::release(server, &def, &key, finalizer);
    }
}

fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

type Found = (Arc<ResourceDef>, String, Arc<Object>);

/// Returns the stored form of an object.
fn find(server: &Server, object: &Value) -> Option<Found> {
    let (kind, version) = (object["kind"].as_str()?, object["apiVersion"].as_str()?);
    by_kind(server, kind, version, meta::namespace(object), meta::name(object), meta::text(object, "uid"))
}

/// Returns the owner that a reference names; owners are in the same namespace or cluster-scoped.
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

/// Reports whether objects of this kind, in any version of its group, belong to the definition.
fn is_of(def: &ResourceDef, kind: &Value, version: &Value) -> bool {
    *kind == def.kind.as_str() && version.as_str().is_some_and(|version| group_of(version) == def.group)
}

/// Returns the objects that name `owner` as one of theirs.
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

/// Removes an owner from an object's references.
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
    async fn collector_checks_the_owners_that_the_object_has_when_handled() {
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

        // Another thread is handling the queue when the object is queued.
        server.garbage.lock().busy = true;
        written(server, &def, &key, &owned, None);
        server.store.update(&def.collection, &key, owned.rv, map(Value::Null)).unwrap();
        server.garbage.lock().busy = false;
        removed(server, owned);
        assert!(server.store.get(&def.collection, &key).is_some(), "it has no owner any longer");
    }

    #[tokio::test]
    async fn namespace_is_queued_once_for_all_removed_objects() {
        let running = ApiServer::start(ApiServerOptions::default()).unwrap();
        let server = running.server();
        server.modify("namespaces", "default", |namespace| {
            let mut next = namespace.clone();
            meta::set(&mut next, "deletionTimestamp", "2025-01-01T00:00:00Z");
            Some(next)
        });
        // Another thread is handling the queue.
        server.garbage.lock().busy = true;
        (0..3).for_each(|_| emptied(server, "default"));
        assert_eq!(server.garbage.lock().waiting.len(), 1);
    }

    #[tokio::test]
    async fn namespace_that_is_not_terminating_keeps_its_objects() {
        let running = ApiServer::start(ApiServerOptions::default()).unwrap();
        let server = running.server();
        let def = server.registry().find("", "v1", "configmaps").unwrap();
        let key = def.key("default", "a");
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default", "uid": "a"}});
        server.store.create(&def.collection, &key, map).unwrap();
        // The deletion of a former namespace with this name was due.
        run(server, Work::Namespace("default".to_owned()));
        assert!(server.store.get(&def.collection, &key).is_some());
    }

    #[tokio::test]
    async fn cluster_scoped_object_with_a_namespaced_owner_is_never_collected() {
        let running = ApiServer::start(ApiServerOptions::default()).unwrap();
        let server = running.server();
        let def = server.registry().find("", "v1", "persistentvolumes").unwrap();
        let owner = |kind: &str| json!([{"apiVersion": "v1", "kind": kind, "name": "gone", "uid": "gone"}]);
        for (kind, stays) in [("ConfigMap", true), ("Node", false)] {
            let name = format!("of-{}", kind.to_lowercase());
            let space = json!({"apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": {"name": name, "uid": kind, "ownerReferences": owner(kind)}});
            let key = def.key("", &name);
            let owned = server.store.create(&def.collection, &key, space).unwrap();
            written(server, &def, &key, &owned, None);
            assert_eq!(server.store.get(&def.collection, &key).is_some(), stays, "{kind}");
        }
    }
}
