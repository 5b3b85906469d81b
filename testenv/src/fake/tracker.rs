//! The objects behind the client's back.

use kube::Resource;
use kubesmith_apiserver::{ApiError, ObjectError, Objects};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::FakeError;
use super::object::Object;

/// The objects of a fake, past its client: client-go's `ObjectTracker`.
///
/// A change made here is no [`Action`](super::Action) and calls no reactors, but watches report it. Objects keep
/// their status, UID, owners, finalizers and deletion timestamp, and nobody checks what their kind's schema says of
/// values (the defaults of a CRD's schema are there when an object is read); fields that the kind does not have are dropped. What is left out of `metadata.uid`, `creationTimestamp` and
/// `generation` is made (`generation` of kinds that count it), `resourceVersion` always is, and so is a name for
/// `generateName`. A namespaced object without a namespace is put into `default`.
#[derive(Clone, Debug)]
pub struct Tracker {
    objects: Objects,
}

impl Tracker {
    pub(super) fn new(objects: Objects) -> Self {
        Self { objects }
    }

    /// Adds an object, or those of a list.
    ///
    /// # Errors
    /// When there is such an object already, the kind is unknown, or no server could have the object: it has no name, or is
    /// being deleted and held by no finalizer.
    pub fn add(&self, object: impl Into<Object>) -> Result<(), FakeError> {
        for value in object.into().flattened()? {
            self.objects.add(value)?;
        }
        Ok(())
    }

    /// Replaces an object, or those of a list, whatever version they are at.
    ///
    /// # Errors
    /// When there is no such object, and as for [`Tracker::add`].
    pub fn update(&self, object: impl Into<Object>) -> Result<(), FakeError> {
        for value in object.into().flattened()? {
            self.objects.update(value)?;
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
        let (api_version, kind) = of_kind::<K>();
        Ok(self.objects.delete(&api_version, &kind, namespace, name)?)
    }

    /// An object as a client would read it; `None` if there is none.
    ///
    /// # Errors
    /// When the kind is unknown, or the object does not fit `K`.
    pub fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, FakeError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let (api_version, kind) = of_kind::<K>();
        self.objects.get(&api_version, &kind, namespace, name)?.map(read).transpose()
    }

    /// The objects of a namespace, or with `""` of all, in the order of namespaces and names.
    ///
    /// # Errors
    /// As for [`Tracker::get`].
    pub fn list<K>(&self, namespace: &str) -> Result<Vec<K>, FakeError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let (api_version, kind) = of_kind::<K>();
        self.objects.list(&api_version, &kind, namespace)?.into_iter().map(read).collect()
    }
}

fn of_kind<K: Resource<DynamicType = ()>>() -> (String, String) {
    (K::api_version(&()).into_owned(), K::kind(&()).into_owned())
}

fn read<K: DeserializeOwned>(value: Value) -> Result<K, FakeError> {
    serde_json::from_value(value).map_err(|error| FakeError::Unreadable(error.to_string()))
}

impl From<ObjectError> for FakeError {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::UnknownKind { api_version, kind } => Self::UnknownKind { api_version, kind },
            ObjectError::Refused(error) => Self::Refused(Box::new(status(&error))),
            other => Self::Unreadable(other.to_string()),
        }
    }
}

/// Returns a server's error.
pub(super) fn status(error: &ApiError) -> kube::core::Status {
    serde_json::from_value(error.to_value())
        .unwrap_or_else(|_| kube::core::Status::failure(error.message(), "InternalError"))
}
