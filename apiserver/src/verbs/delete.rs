//! DELETE of one object.

use std::sync::Arc;

use serde_json::{Value, json};

use super::read;
use super::write::{self, Storage, Write};
use crate::admission::{Attributes, Operation, Options, is_system_priority_class};
use crate::conversion::Served;
use crate::http::reply::Reply;
use crate::lifecycle::{DeleteOptions, Deletion, deletion};
use crate::meta;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{Object, WriteError};

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
