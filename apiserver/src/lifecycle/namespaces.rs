//! Terminating namespaces: the namespace controller of `pkg/controller/namespace/deletion`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::aftermath::{delete_quietly, remove};
use super::garbage;
use crate::registry::ResourceDef;
use crate::server::Server;
use crate::{managed, meta};

const NAMESPACES: &str = "namespaces";

/// The time for which a terminating namespace stays as it is without other controllers: `namespaceDeletionGracePeriod`.
const GRACE: Duration = Duration::from_secs(5);

/// Empties a namespace that was marked as being deleted: at once beside other controllers, else after a while.
pub(super) fn terminating(server: &Arc<Server>, name: &str) {
    let options = server.options();
    if !options.empties_namespaces() {
        return;
    }
    let runtime = tokio::runtime::Handle::try_current().ok().filter(|_| !options.controllers);
    let Some(runtime) = runtime else { return garbage::namespace(server, name) };
    let due = Instant::now() + GRACE;
    garbage::keep_namespace(server, name, due);
    let (server, name) = (Arc::downgrade(server), name.to_owned());
    runtime.spawn(async move {
        tokio::time::sleep_until(due).await;
        if let Some(server) = server.upgrade() {
            garbage::namespace_when_due(&server, &name);
        }
    });
}

/// Deletes the pods in a terminating namespace, then all other objects, and then the namespace. The namespace may have been
/// replaced by one of its name since this was due.
pub(super) fn empty_namespace(server: &Arc<Server>, name: &str) {
    if !is_terminating(server, name) {
        return;
    }
    let defs = server.registry().stored();
    let (pods, others): (Vec<_>, Vec<_>) =
        defs.iter().filter(|def| def.namespaced).partition(|def| def.collection == "pods");
    let mut left = Left::default();
    left.delete(server, &pods, name);
    let waits_for_pods = !left.objects.is_empty();
    if waits_for_pods {
        // The conditions list the remaining objects only after all kinds were tried.
        left = Left::default();
    } else {
        left.delete(server, &others, name);
    }
    let is_empty = !waits_for_pods && left.objects.is_empty();
    note(server, name, &left);
    if is_empty {
        finish(server, name);
    }
}

/// Continues when an object of the namespace is gone, unless pods remain.
pub(super) fn continue_namespace(server: &Arc<Server>, name: &str) {
    let pods = server.store.list("pods", &format!("{name}/"), None);
    if pods.is_ok_and(|snapshot| snapshot.objects.is_empty()) {
        empty_namespace(server, name);
    }
}

fn is_terminating(server: &Server, name: &str) -> bool {
    server.store.get(NAMESPACES, name).is_some_and(|namespace| meta::is_terminating(&namespace.value))
}

/// The objects that remain in a namespace.
#[derive(Debug, Default)]
struct Left {
    /// Their number by resource and group.
    objects: BTreeMap<String, usize>,
    /// Their number by finalizer.
    finalizers: BTreeMap<String, usize>,
}

impl Left {
    /// Deletes objects of these kinds, and counts those that remain.
    fn delete(&mut self, server: &Arc<Server>, defs: &[&Arc<ResourceDef>], namespace: &str) {
        let prefix = format!("{namespace}/");
        for def in defs {
            let listed =
                || server.store.list(&def.collection, &prefix, None).map(|it| it.objects).unwrap_or_default();
            let mut objects = listed();
            let mut deleted = objects.iter().filter(|(_, object)| !object.is_terminating()).peekable();
            if deleted.peek().is_some() {
                deleted.for_each(|(key, _)| delete_quietly(server, def, key));
                objects = listed();
            }
            for (_, object) in objects {
                *self.objects.entry(format!("{}.{}", def.plural, def.group)).or_default() += 1;
                for finalizer in meta::finalizers(&object.value) {
                    *self.finalizers.entry(finalizer.to_owned()).or_default() += 1;
                }
            }
        }
    }
}

/// Writes the conditions of a terminating namespace (status_condition_utils.go).
fn note(server: &Server, name: &str, left: &Left) {
    let listed = |counts: &BTreeMap<String, usize>, word: &str| {
        let texts = counts.iter().map(|(name, count)| format!("{name} {word} {count} resource instances"));
        texts.collect::<Vec<_>>().join(", ")
    };
    let some = |counts: &BTreeMap<String, usize>, word: &str, reason: &'static str, text: &str| {
        (!counts.is_empty()).then(|| (reason, format!("{text}: {}", listed(counts, word))))
    };
    let content = some(&left.objects, "has", "SomeResourcesRemain", "Some resources are remaining");
    let text = "Some content in the namespace has finalizers remaining";
    let finalizers = some(&left.finalizers, "in", "SomeFinalizersRemain", text);
    let discovered = ("ResourcesDiscovered", "All resources successfully discovered");
    let parsed = ("ParsedGroupVersions", "All legacy kube types successfully parsed");
    let deleted = ("ContentDeleted", "All content successfully deleted, may be waiting on finalization");
    let removed = ("ContentRemoved", "All content successfully removed");
    let finished = ("ContentHasNoFinalizers", "All content-preserving finalizers finished");
    let conditions = [
        ("NamespaceDeletionDiscoveryFailure", None, discovered),
        ("NamespaceDeletionGroupVersionParsingFailure", None, parsed),
        ("NamespaceDeletionContentFailure", None, deleted),
        ("NamespaceContentRemaining", content, removed),
        ("NamespaceFinalizersRemaining", finalizers, finished),
    ];
    let now = server.now();
    server.modify(NAMESPACES, name, |namespace| {
        let mut next = namespace.clone();
        for (type_, found, (reason, text)) in &conditions {
            let (status, reason, text) = match found {
                Some((reason, text)) => ("True", *reason, text.as_str()),
                None => ("False", *reason, *text),
            };
            set_condition(&mut next["status"], (type_, status, reason, text), &now);
        }
        (next != *namespace).then(|| managed::updated_namespace(namespace, &next, &now))
    });
}

/// `updateConditions`, of one condition.
fn set_condition(holder: &mut Value, (type_, status, reason, text): (&str, &str, &str, &str), now: &str) {
    if !holder["conditions"].is_array() {
        holder["conditions"] = json!([]);
    }
    let Some(list) = holder["conditions"].as_array_mut() else { return };
    let at = list.iter().position(|condition| condition["type"] == type_).unwrap_or_else(|| {
        list.push(json!({"type": type_}));
        list.len() - 1
    });
    let condition = &mut list[at];
    if condition["status"] != status {
        condition["lastTransitionTime"] = now.into();
    }
    for (member, value) in [("status", status), ("reason", reason), ("message", text)] {
        condition[member] = value.into();
    }
}

/// Removes the finalizer of a namespace without content, and the namespace if nothing else holds it.
fn finish(server: &Arc<Server>, name: &str) {
    let emptied = server.modify(NAMESPACES, name, |namespace| {
        let mut next = namespace.clone();
        let finalizers = next["spec"]["finalizers"].as_array_mut()?;
        finalizers.retain(|finalizer| finalizer != "kubernetes");
        if finalizers.is_empty() {
            next["spec"].as_object_mut()?.remove("finalizers");
        }
        Some(next)
    });
    let is_free = |namespace: &Value| {
        meta::finalizers(namespace).is_empty() && meta::strings(&namespace["spec"]["finalizers"]).is_empty()
    };
    let Some(emptied) = emptied.filter(|namespace| is_free(&namespace.value)) else { return };
    if let Some(def) = server.registry().find("", "v1", NAMESPACES) {
        // A concurrent request has done the same.
        let _ = remove(server, &def, name, &emptied);
    }
}
