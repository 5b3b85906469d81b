//! The stored objects, past admission and validation: the initial state of a test.

use std::sync::Arc;

use serde_json::Value;

use crate::http::path::ResourcePath;
use crate::registry::ResourceDef;
use crate::server::Server;
use crate::status::ApiError;
use crate::store;
use crate::verbs::internal_writes;
use crate::{conversion, crd, definitions, groups, meta};

/// The reason why an object cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The server serves no such kind.
    #[error("no kind {kind} of {api_version} is served")]
    UnknownKind {
        /// The group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// It is no JSON object.
    #[error("an object has to be a JSON object")]
    NoObject,
    /// Every server would refuse the object.
    #[error("{}", .0.message())]
    Refused(ApiError),
    /// The object is stored in a version that only a webhook converts.
    #[error("a webhook converts {0}")]
    ConvertedByWebhook(String),
}

impl From<ApiError> for ObjectError {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

/// The stored objects of an [`ApiServer`](crate::ApiServer). Writes here skip admission and schemas; watches see them.
#[derive(Clone, Debug)]
pub struct Objects {
    server: Arc<Server>,
}

impl Objects {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// Adds definitions, then serves all of their kinds.
    ///
    /// # Errors
    /// Returns the name of the first definition that is refused, and the reason.
    pub fn add_definitions(
        &self,
        definitions: impl IntoIterator<Item = Value>,
    ) -> Result<(), (String, ApiError)> {
        if let Some(def) = self.server.registry().find(groups::API_EXTENSIONS, "v1", crd::PLURAL) {
            for value in definitions {
                let name = meta::name(&value).to_owned();
                internal_writes::add_one_of_many(&self.server, &def, value).map_err(|error| (name, error))?;
            }
            definitions::refresh(&self.server);
        }
        Ok(())
    }

    /// Adds an object.
    ///
    /// # Errors
    /// Returns an error if the object exists already, its kind is unknown, or every server would refuse it.
    pub fn add(&self, object: Value) -> Result<(), ObjectError> {
        let (def, value) = self.place(object)?;
        internal_writes::add(&self.server, &def, value)?;
        Ok(())
    }

    /// Replaces an object at any version.
    ///
    /// # Errors
    /// Returns an error if the object does not exist, and as for [`Objects::add`].
    pub fn update(&self, object: Value) -> Result<(), ObjectError> {
        let (def, value) = self.place(object)?;
        internal_writes::replace(&self.server, &def, &value)?;
        Ok(())
    }

    /// Removes an object despite its finalizers; cluster-scoped ones have the namespace `""`.
    ///
    /// # Errors
    /// Returns an error if the object does not exist, or its kind is unknown.
    pub fn delete(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<(), ObjectError> {
        let def = self.find(api_version, kind)?;
        Ok(internal_writes::take(&self.server, &def, namespace, name)?)
    }

    /// Returns an object as a client would read it, if there is one.
    ///
    /// # Errors
    /// Returns an error if the kind is unknown, or only a webhook could convert the object.
    pub fn get(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, ObjectError> {
        let def = self.find(api_version, kind)?;
        let stored = self.server.store.get(&def.collection, &def.key(namespace, name));
        stored.map(|object| read(&def, &object)).transpose()
    }

    /// Returns an object as it was at a version, if there was one and the server remembers that version.
    ///
    /// # Errors
    /// As for [`Objects::get`].
    pub fn at(&self, path: &ResourcePath, version: u64) -> Result<Option<Value>, ObjectError> {
        let Some(def) = self.server.registry().find(&path.group, &path.version, &path.resource) else {
            let api_version = groups::api_version(&path.group, &path.version);
            return Err(ObjectError::UnknownKind { api_version, kind: path.resource.clone() });
        };
        let key = def.key(&path.namespace, &path.name);
        let stored = self.server.store.get_at(&def.collection, &key, version);
        stored.map(|object| read(&def, &object)).transpose()
    }

    /// Returns the objects of a namespace, or with `""` of all, in the order of namespaces and names.
    ///
    /// # Errors
    /// As for [`Objects::get`].
    pub fn list(&self, api_version: &str, kind: &str, namespace: &str) -> Result<Vec<Value>, ObjectError> {
        let def = self.find(api_version, kind)?;
        let snapshot = self.server.store.list(&def.collection, &def.prefix(namespace), None);
        let objects = snapshot.map(|snapshot| snapshot.objects).unwrap_or_default();
        objects.iter().map(|(_, object)| read(&def, object)).collect()
    }

    /// Returns the objects of a resource in its storage version; none if no such resource is served.
    ///
    /// # Errors
    /// Returns an error if only a webhook could convert an object.
    pub fn of_resource(&self, group: &str, plural: &str) -> Result<Vec<Value>, ObjectError> {
        let stored = self.server.registry().stored();
        let Some(def) = stored.iter().find(|def| def.group == group && def.plural == plural) else {
            return Ok(Vec::new());
        };
        let snapshot = self.server.store.list(&def.collection, "", None);
        let objects = snapshot.map(|snapshot| snapshot.objects).unwrap_or_default();
        objects.iter().map(|(_, object)| read(def, object)).collect()
    }

    /// Returns the path of an object in the API, in the namespace `default` if it needs one and names none.
    ///
    /// # Errors
    /// Returns an error if the kind is unknown.
    pub fn path(&self, object: &Value) -> Result<String, ObjectError> {
        let text = |key: &str| object[key].as_str().unwrap_or_default();
        let def = self.find(text("apiVersion"), text("kind"))?;
        let root = if def.group.is_empty() { "/api" } else { "/apis" };
        let namespace = match (def.namespaced, meta::namespace(object)) {
            (false, _) => String::new(),
            (true, "") => "/namespaces/default".to_owned(),
            (true, namespace) => format!("/namespaces/{namespace}"),
        };
        Ok(format!("{root}/{}{namespace}/{}/{}", def.api_version(), def.plural, meta::name(object)))
    }

    /// Returns the resource version of the last write.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.server.store.current()
    }

    fn find(&self, api_version: &str, kind: &str) -> Result<Arc<ResourceDef>, ObjectError> {
        let registry = self.server.registry();
        let mut known = registry.all().filter(|def| def.is_stored());
        let found = known.find(|def| def.kind == kind && def.api_version() == api_version).cloned();
        let unknown =
            || ObjectError::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() };
        found.ok_or_else(unknown)
    }

    /// Returns the kind of an object, and the object in its namespace.
    fn place(&self, mut value: Value) -> Result<(Arc<ResourceDef>, Value), ObjectError> {
        if !value.is_object() {
            return Err(ObjectError::NoObject);
        }
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        let def = self.find(text("apiVersion"), text("kind"))?;
        if !def.namespaced {
            meta::remove(&mut value, "namespace");
        } else if meta::namespace(&value).is_empty() {
            meta::set(&mut value, "namespace", "default");
        }
        Ok((def, value))
    }
}

fn read(def: &ResourceDef, object: &Arc<store::Object>) -> Result<Value, ObjectError> {
    let served = conversion::at_once(def, object)
        .ok_or_else(|| ObjectError::ConvertedByWebhook(def.plural.clone()))?;
    Ok(served.value().clone())
}
