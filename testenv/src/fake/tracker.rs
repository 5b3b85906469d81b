//! The objects of a fake, past its client.

use kube::Resource;
use kubesmith_apiserver::{ApiError, ObjectError, Objects};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::FakeError;
use super::object::Object;

/// The objects of a fake, past its client: client-go's `ObjectTracker`.
///
/// A change made here is no [`Action`](super::Action) and calls no reactors, but watches report it. Objects keep their
/// status, UID, owners, finalizers and deletion timestamp, and their values are not validated by their kind's schema
/// (reads fill in the defaults of a CRD's schema); unknown fields are dropped. Absent `metadata.uid`,
/// `creationTimestamp` and `generation` are set (`generation` of kinds that count it), and so is a name for
/// `generateName`; `resourceVersion` always is. A namespaced object without a namespace is put into `default`.
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
    /// Returns an error if the object exists already, the kind is unknown, or every server would refuse the object: it
    /// has no name, or is being deleted without a finalizer.
    pub fn add(&self, object: impl Into<Object>) -> Result<(), FakeError> {
        for value in object.into().flattened()? {
            self.objects.add(value)?;
        }
        Ok(())
    }

    /// Replaces an object, or those of a list, at any version.
    ///
    /// # Errors
    /// Returns an error if the object does not exist, and as for [`Tracker::add`].
    pub fn update(&self, object: impl Into<Object>) -> Result<(), FakeError> {
        for value in object.into().flattened()? {
            self.objects.update(value)?;
        }
        Ok(())
    }

    /// Removes an object despite its finalizers; cluster-scoped ones have the namespace `""`.
    ///
    /// # Errors
    /// Returns an error if the object does not exist, or the kind is unknown.
    pub fn delete<K>(&self, namespace: &str, name: &str) -> Result<(), FakeError>
    where
        K: Resource<DynamicType = ()>,
    {
        let (api_version, kind) = of_kind::<K>();
        Ok(self.objects.delete(&api_version, &kind, namespace, name)?)
    }

    /// Returns an object as a client would read it; `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the kind is unknown, or the object does not fit `K`.
    pub fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, FakeError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let (api_version, kind) = of_kind::<K>();
        self.objects.get(&api_version, &kind, namespace, name)?.map(read).transpose()
    }

    /// Returns the objects of a namespace, or with `""` of all, ordered by namespace and name.
    ///
    /// # Errors
    /// Returns an error as for [`Tracker::get`].
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
