//! The objects that kube-apiserver adds to every cluster, with the owners of their fields.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use crate::apply::{self, Manager};
use crate::builtin::initial;
use crate::registry::Registry;
use crate::{managed, meta};

const KUBE_APISERVER: &str = "kube-apiserver";
const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io/v1";

/// The built-in kinds.
static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| Registry::shared(Vec::new()));

/// One of the objects, without the UID and times that a server sets.
#[derive(Debug)]
pub(crate) struct Initial {
    pub(crate) collection: String,
    pub(crate) key: String,
    object: Value,
}

impl Initial {
    /// Returns the object as created at a time.
    pub(crate) fn object(&self, uid: String, now: &str) -> Value {
        let mut object = self.object.clone();
        meta::set(&mut object, "uid", uid);
        meta::set(&mut object, "creationTimestamp", now.to_owned());
        each(&mut object, "/metadata/managedFields", |entry| entry["time"] = now.into());
        each(&mut object, "/status/conditions", |condition| {
            condition["lastTransitionTime"] = now.into();
            // Go writes an empty one.
            if condition.get("reason").is_none() {
                condition["reason"] = "".into();
            }
        });
        object
    }
}

fn each(object: &mut Value, path: &str, change: impl FnMut(&mut Value)) {
    object.pointer_mut(path).and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
}

/// Returns all of them; built once for all servers of a process.
pub(crate) fn objects() -> &'static [Initial] {
    static OBJECTS: LazyLock<Vec<Initial>> =
        LazyLock::new(|| initial::lines().filter_map(|object| owned_initial(&REGISTRY, object)).collect());
    &OBJECTS
}

fn owned_initial(registry: &Registry, mut object: Value) -> Option<Initial> {
    let def = registry
        .all()
        .find(|def| object["kind"] == *def.kind && object["apiVersion"] == def.api_version())?;
    let rules = managed::rules_of(def)?;
    let (creator, judge) = match def.kind.as_str() {
        "ServiceCIDR" => (KUBE_APISERVER, "kubernetes-service-cidr-controller"),
        _ if def.api_version() == FLOW_CONTROL => {
            ("api-priority-and-fairness-config-producer-v1", "api-priority-and-fairness-config-consumer-v1")
        }
        _ => (KUBE_APISERVER, ""),
    };
    let conditions = object.pointer_mut("/status/conditions").map(Value::take);
    let mut creator = manager(creator, def.api_version(), "");
    if def.kind == "Namespace" {
        // The server itself adds the finalizer.
        creator.ignored = &["spec", "status"];
    }
    object = apply::update(rules, &Value::Null, &object, &creator);
    if let Some(mut conditions) = conditions {
        each(&mut conditions, "", |condition| condition["lastTransitionTime"] = "".into());
        let status = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": meta::name(&object)},
            "status": {"conditions": conditions},
        });
        let judge = Manager { ignored: &["metadata", "spec"], ..manager(judge, def.api_version(), "status") };
        object = apply::apply(rules, &object, &status, &judge, false).ok()?.object;
    }
    Some(Initial { collection: def.collection.clone(), key: def.key_of(&object), object })
}

/// Returns an object of the core group with kube-apiserver as the owner of its fields.
pub(crate) fn owned(object: Value, now: &str) -> Value {
    let def =
        REGISTRY.all().find(|def| object["kind"] == *def.kind && object["apiVersion"] == def.api_version());
    let Some(rules) = def.and_then(|def| managed::rules_of(def)) else { return object };
    let owner = Manager { time: now.to_owned(), ..manager(KUBE_APISERVER, "v1".to_owned(), "") };
    apply::update(rules, &Value::Null, &object, &owner)
}

fn manager(name: &str, api_version: String, subresource: &str) -> Manager {
    Manager {
        name: name.to_owned(),
        api_version,
        subresource: subresource.to_owned(),
        time: String::new(),
        ignored: &["status"],
        only: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_objects_have_known_kinds() {
        assert_eq!(objects().len(), initial::lines().count());
        let flow =
            objects().iter().find(|it| it.object["kind"] == "FlowSchema" && it.key == "exempt").unwrap();
        let flow = &flow.object;
        assert_eq!(flow["metadata"]["managedFields"].as_array().map(Vec::len), Some(2), "{flow}");
    }
}
