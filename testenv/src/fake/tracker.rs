//! The objects behind the client's back.

use std::sync::Arc;

use kube::Resource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::FakeError;
use super::object::Object;
use crate::conversion;
use crate::registry::ResourceDef;
use crate::server::Server;
use crate::status::ApiError;
use crate::verbs::behind;

/// The objects of a fake, past its client: client-go's `ObjectTracker`.
///
/// What is done here is no [`Action`](super::Action) and asks no reactors; watches hear of it. Objects keep
/// their status, UID, owners, finalizers and deletion timestamp, and nobody checks what their kind's schema says of
/// values (the defaults of a CRD's schema are there when an object is read); fields that the kind does not have are dropped. What is left out of `metadata.uid`, `creationTimestamp` and
/// `generation` is made (`generation` of kinds that count it), `resourceVersion` always is, and so is a name for
/// `generateName`. A namespaced object without a namespace is put into `default`.
#[derive(Clone, Debug)]
pub struct Tracker {
    server: Arc<Server>,
}

impl Tracker {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// Adds an object, or those of a list.
    ///
    /// # Errors
    /// When there is such an object already, the kind is unknown, or no server could have the object: it has no name, or is
    /// being deleted and held by no finalizer.
    pub fn add(&self, object: impl Into<Object>) -> Result<(), FakeError> {
        for value in object.into().flattened()? {
            let (def, value) = self.place(value)?;
            behind::add(&self.server, &def, value).map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Replaces an object, or those of a list, whatever version they are at.
    ///
    /// # Errors
    /// When there is no such object, and as for [`Tracker::add`].
    pub fn update(&self, object: impl Into<Object>) -> Result<(), FakeError> {
        for value in object.into().flattened()? {
            let (def, value) = self.place(value)?;
            behind::replace(&self.server, &def, &value).map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Takes an object away, whatever finalizers it has; those of kinds without namespaces have the namespace `""`.
    ///
    /// # Errors
    /// When there is no such object, or the kind is unknown.
    pub fn delete<K>(&self, namespace: &str, name: &str) -> Result<(), FakeError>
    where
        K: Resource<DynamicType = ()>,
    {
        let def = self.def::<K>()?;
        behind::take(&self.server, &def, namespace, name).map_err(|error| refused(&error))
    }

    /// An object as a client would read it; `None` if there is none.
    ///
    /// # Errors
    /// When the kind is unknown, or the object does not fit `K`.
    pub fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, FakeError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let def = self.def::<K>()?;
        let stored = self.server.store.get(&def.collection, &def.key(namespace, name));
        stored.map(|object| read(&def, &object)).transpose()
    }

    /// The objects of a namespace, or with `""` of all, in the order of namespaces and names.
    ///
    /// # Errors
    /// As for [`Tracker::get`].
    pub fn list<K>(&self, namespace: &str) -> Result<Vec<K>, FakeError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let def = self.def::<K>()?;
        let snapshot = self.server.store.list(&def.collection, &def.prefix(namespace), None);
        let objects = snapshot.map(|snapshot| snapshot.objects).unwrap_or_default();
        objects.iter().map(|(_, object)| read(&def, object)).collect()
    }

    fn def<K: Resource<DynamicType = ()>>(&self) -> Result<Arc<ResourceDef>, FakeError> {
        self.find(&K::api_version(&()), &K::kind(&()))
    }

    fn find(&self, api_version: &str, kind: &str) -> Result<Arc<ResourceDef>, FakeError> {
        let registry = self.server.registry();
        let mut known = registry.all().filter(|def| !def.is_review());
        let found = known.find(|def| def.kind == kind && def.api_version() == api_version).cloned();
        let unknown =
            || FakeError::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() };
        found.ok_or_else(unknown)
    }

    /// The kind of an object, and the object in its namespace.
    fn place(&self, mut value: Value) -> Result<(Arc<ResourceDef>, Value), FakeError> {
        if !value.is_object() {
            return Err(FakeError::Unreadable("an object has to be a JSON object".to_owned()));
        }
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        let def = self.find(text("apiVersion"), text("kind"))?;
        if !def.namespaced {
            crate::meta::remove(&mut value, "namespace");
        } else if crate::meta::namespace(&value).is_empty() {
            crate::meta::set(&mut value, "namespace", "default");
        }
        Ok((def, value))
    }
}

fn read<K: DeserializeOwned>(def: &ResourceDef, object: &Arc<crate::store::Object>) -> Result<K, FakeError> {
    let served = conversion::at_once(def, object)
        .ok_or_else(|| FakeError::Unreadable(format!("a webhook converts {}", def.plural)))?;
    K::deserialize(served.value()).map_err(|error| FakeError::Unreadable(error.to_string()))
}

pub(super) fn refused(error: &ApiError) -> FakeError {
    FakeError::Refused(Box::new(status(error)))
}

/// What a server would say.
pub(super) fn status(error: &ApiError) -> kube::core::Status {
    serde_json::from_value(error.to_value())
        .unwrap_or_else(|_| kube::core::Status::failure(error.message(), "InternalError"))
}
