//! Objects of other owners, which block an operator and which it must not touch.

use http::Method;
use kubesmith_apiserver::Objects;
use serde_json::{Value, json};

use super::judge::shown;
use super::oracle::Failure;
use super::world::{World, is_noise};
use crate::fake::{Action, PatchType};

/// The name of the other owner, of a kind that operators rarely watch.
const STRANGER: &str = "explore-stranger";

/// Returns the UID of an object's controller.
fn controller(object: &Value) -> Option<&Value> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    owners.iter().find(|owner| owner["controller"] == true)
}

/// Reports whether a request creates an object with a controller: a creation, or an apply without an object of this name.
pub(super) fn creates_controlled(action: &Action, objects: &Objects) -> bool {
    let Some(body) = action.body() else { return false };
    let is_controlled = !action.namespace().is_empty()
        && action.subresource().is_empty()
        && controller(body).is_some()
        && body["metadata"]["name"].is_string();
    let text = |key: &str| body[key].as_str().unwrap_or_default();
    is_controlled
        && match action.patch_type() {
            None => action.verb() == "create",
            Some(PatchType::Apply) => matches!(
                objects.get(text("apiVersion"), text("kind"), action.namespace(), action.name()),
                Ok(None)
            ),
            Some(_) => false,
        }
}

impl World {
    /// Creates the object that an operator is about to create, for another owner.
    pub(super) fn take_name(&mut self, action: &Action, label: &str) {
        let Some(body) = action.body() else { return };
        let namespace = action.namespace();
        let owner = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": STRANGER}});
        let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        // It may exist already.
        let _ = self.cluster.create(&accounts, &owner);
        let Some(owner) = self.cluster.get(&format!("{accounts}/{STRANGER}")) else { return };
        let mut object = body.clone();
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "ServiceAccount", "name": STRANGER,
            "uid": owner["metadata"]["uid"], "controller": true,
        }]);
        let collection = match action.verb() {
            "create" => action.path(),
            _ => action.path().rsplit_once('/').map_or("", |(collection, _)| collection),
        };
        if self.cluster.create(collection, &object).is_ok() {
            self.tell(&format!("! another controller makes it for an owner of its own before: {label}"));
            self.has_strangers = true;
        }
    }

    /// Returns the object of a request, if it has a controller that still exists.
    pub(super) fn controlled(&self, action: &Action) -> Option<Value> {
        let concerns = match action.verb() {
            "update" => true,
            "patch" => action.body().is_some_and(|body| !body["metadata"]["ownerReferences"].is_null()),
            _ => false,
        };
        if !concerns || !action.subresource().is_empty() {
            return None;
        }
        let object = self.cluster.get(action.path())?;
        let is_there = self.is_there(controller(&object)?, action.namespace());
        is_there.then_some(object)
    }

    /// Reports whether an owner of an object in a namespace exists and stays.
    fn is_there(&self, owner: &Value, namespace: &str) -> bool {
        let text = |key: &str| owner[key].as_str().unwrap_or_default();
        [namespace, ""].iter().any(|namespace| {
            let found = self.cluster.objects().get(text("apiVersion"), text("kind"), namespace, text("name"));
            found.ok().flatten().is_some_and(|found| {
                found["metadata"]["uid"] == owner["uid"] && found["metadata"]["deletionTimestamp"].is_null()
            })
        })
    }

    /// Returns the object that an operator is about to delete, unless an owner is gone.
    pub(super) fn doomed(&self, action: &Action) -> Option<Value> {
        if action.verb() != "delete" || !action.subresource().is_empty() || is_noise(action.resource()) {
            return None;
        }
        let object = self.cluster.get(action.path())?;
        let owners = object["metadata"]["ownerReferences"].as_array();
        let all_there = owners.into_iter().flatten().all(|owner| self.is_there(owner, action.namespace()));
        all_there.then_some(object)
    }

    /// Judges an object that the garbage collector has deleted right after its write: its owner exists, in another namespace.
    pub(super) fn judge_collected(&mut self, object: &Value) {
        let metadata = &object["metadata"];
        let Some(owners) = metadata["ownerReferences"].as_array() else { return };
        let objects = self.cluster.objects();
        let is_gone = objects.path(object).is_ok_and(|path| self.cluster.get(&path).is_none());
        if !is_gone || metadata["namespace"].is_null() || !metadata["deletionTimestamp"].is_null() {
            return;
        }
        let is_elsewhere = |owner: &&Value| {
            let text = |key: &str| owner[key].as_str().unwrap_or_default();
            let all = objects.list(text("apiVersion"), text("kind"), "").unwrap_or_default();
            let mut found = all.iter().map(|other| &other["metadata"]);
            found.any(|other| {
                other["uid"] == owner["uid"]
                    && ![&Value::Null, &metadata["namespace"]].contains(&&other["namespace"])
            })
        };
        if let Some(owner) = owners.iter().find(is_elsewhere) {
            let text = |key: &str| owner[key].as_str().unwrap_or_default();
            let what = format!(
                "{} at once: its owner {} {} is in another namespace",
                shown(object),
                text("kind"),
                text("name")
            );
            self.fail(Failure::OwnerElsewhere(what));
        }
    }

    /// Judges a write of an object that had a controller, which has to stay. Deletions are not judged: operators that
    /// find their objects by labels treat those of others as their own.
    pub(super) fn judge_owner(&mut self, action: &Action, label: &str, before: &Value) {
        let Some(owner) = controller(before) else { return };
        let Some(after) = self.cluster.get(action.path()) else { return };
        if controller(&after).is_some_and(|after| after["uid"] != owner["uid"]) {
            let text = |key: &str| owner[key].as_str().unwrap_or_default();
            let owner = format!("{} {}", text("kind"), text("name"));
            self.fail(Failure::NotOurs { what: label.to_owned(), owner });
        }
    }
}

impl super::cluster::Cluster {
    /// Creates an object in a collection.
    fn create(&self, collection: &str, object: &Value) -> Result<u16, String> {
        self.request(Method::POST, collection, "application/json", object)
    }
}
