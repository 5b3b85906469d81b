//! The effects of a deletion on other objects: definitions are emptied, and then removed.

use std::sync::Arc;

use serde_json::Value;

use super::options::DeleteOptions;
use super::{Deletion, deletion, garbage, goes_with_update, namespaces};
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::store::{Object, WriteError};
use crate::{authorization, crd, definitions, groups, managed, meta};

const RETRIES: usize = 1000;

/// Marks an object as being deleted.
pub(crate) fn mark(
    server: &Arc<Server>,
    def: &ResourceDef,
    key: &str,
    stored: &Arc<Object>,
    marked: Value,
) -> Result<Arc<Object>, WriteError> {
    let object = server.store.update(&def.collection, key, stored.rv, marked)?;
    after_mark(server, def, &object);
    Ok(object)
}

/// Starts the work that has to precede the removal of a terminating object.
fn after_mark(server: &Arc<Server>, def: &ResourceDef, object: &Arc<Object>) {
    if def.collection == "namespaces" {
        namespaces::terminating(server, meta::name(&object.value));
    } else if def.collection == crd::COLLECTION {
        empty_crd(server, meta::name(&object.value));
    }
    if server.options().controllers {
        garbage::marked(server, object.clone());
    }
}

/// Continues deletions that an earlier run of the server did not finish.
pub(crate) fn resume(server: &Arc<Server>) {
    for def in server.registry().stored().iter() {
        let Ok(snapshot) = server.store.list(&def.collection, "", None) else { continue };
        for (key, object) in snapshot.objects {
            if object.is_terminating() {
                after_mark(server, def, &object);
            } else if server.options().controllers && object.owners().is_array() {
                garbage::check_owners(server, def, &key, &object.value);
            }
        }
    }
}

/// Removes an object from the store.
pub(crate) fn remove(
    server: &Arc<Server>,
    def: &ResourceDef,
    key: &str,
    stored: &Arc<Object>,
) -> Result<Arc<Object>, WriteError> {
    let last = server.store.delete(&def.collection, key, stored.rv)?;
    after_remove(server, def, stored);
    Ok(last)
}

/// Updates the parts of the server that depend on this resource.
pub(crate) fn after_write(server: &Server, def: &ResourceDef) {
    if def.collection == crd::COLLECTION {
        definitions::refresh(server);
    }
    if def.group == groups::ADMISSION_REGISTRATION {
        server.refresh_hooks();
    }
    if def.collection == authorization::CLUSTER_ROLES {
        authorization::aggregate(server);
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
    if server.options().empties_namespaces() && def.namespaced {
        garbage::emptied(server, meta::namespace(object));
    }
    if server.options().controllers {
        garbage::removed(server, stored.clone());
    }
}

/// Deletes an object as a controller would: only marks it if finalizers hold it.
pub(super) fn delete_quietly(server: &Arc<Server>, def: &ResourceDef, key: &str) {
    for _ in 0..RETRIES {
        let Some(stored) = server.store.get(&def.collection, key) else { return };
        let done = match deletion(server, def, &stored.value, &DeleteOptions::of_collector(&stored.value)) {
            Deletion::Pending => return,
            Deletion::Mark(marked) => mark(server, def, key, &stored, marked),
            Deletion::MarkAndRemove(marked) => {
                mark(server, def, key, &stored, marked).and_then(|marked| remove(server, def, key, &marked))
            }
            Deletion::Now => remove(server, def, key, &stored),
        };
        if !matches!(done, Err(WriteError::Conflict)) {
            return;
        }
    }
}

/// Removes a finalizer from a terminating object, and the object with its last one.
pub(super) fn release(server: &Arc<Server>, def: &ResourceDef, key: &str, finalizer: &str) {
    for _ in 0..RETRIES {
        let Some(stored) = server.store.get(&def.collection, key) else { return };
        let finalizers = meta::finalizers(&stored.value);
        if !finalizers.contains(&finalizer) {
            return;
        }
        let rest: Vec<&str> = finalizers.into_iter().filter(|f| *f != finalizer).collect();
        let mut next = stored.value.clone();
        meta::set_finalizers(&mut next, &rest);
        let done = if goes_with_update(def, &stored.value, &next) {
            remove(server, def, key, &stored)
        } else {
            server.store.update(&def.collection, key, stored.rv, next)
        };
        if !matches!(done, Err(WriteError::Conflict)) {
            return;
        }
    }
}

/// Deletes the objects of a terminating CRD, and then the CRD.
fn empty_crd(server: &Arc<Server>, name: &str) {
    server.modify(crd::COLLECTION, name, |crd| {
        let (mut next, now) = (crd.clone(), server.now());
        let text = "CustomResource deletion is in progress";
        definitions::set_condition(&mut next, "Terminating", true, "InstanceDeletionInProgress", text, &now);
        (next != *crd).then(|| managed::updated_definition(crd, &next, &now))
    });
    let registry = server.registry();
    let defs = registry.stored();
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

/// Removes a terminating CRD without objects.
fn finish_crd(server: &Arc<Server>, name: &str) {
    let Some(stored) = server.store.get(crd::COLLECTION, name) else { return };
    if !meta::is_terminating(&stored.value) {
        return;
    }
    let left = server.store.list(&crd::collection(&stored.value), "", None);
    if !left.is_ok_and(|snapshot| snapshot.objects.is_empty()) {
        return;
    }
    if meta::finalizers(&stored.value).iter().any(|finalizer| *finalizer != crd::CLEANUP) {
        server.modify(crd::COLLECTION, name, |crd| {
            meta::finalizers(crd).contains(&crd::CLEANUP).then(|| cleaned_up(server, crd))
        });
    } else if let Some(def) = server.registry().find(groups::API_EXTENSIONS, "v1", crd::PLURAL) {
        release(server, &def, name, crd::CLEANUP);
    }
}

/// A definition that has no objects any more, and that other finalizers hold (`sync` of apiextensions-apiserver's
/// pkg/controller/finalizer/crd_finalizer.go).
fn cleaned_up(server: &Server, crd: &Value) -> Value {
    let (mut next, now) = (crd.clone(), server.now());
    let rest: Vec<&str> =
        meta::finalizers(crd).into_iter().filter(|finalizer| *finalizer != crd::CLEANUP).collect();
    meta::set_finalizers(&mut next, &rest);
    definitions::set_condition(
        &mut next,
        "Terminating",
        false,
        "InstanceDeletionCompleted",
        "removed all instances",
        &now,
    );
    managed::updated_definition(crd, &next, &now)
}
