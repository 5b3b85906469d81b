//! Creates or updates an object.

use std::error::Error as StdError;
use std::fmt::Debug;

use kube::api::{Api, PostParams};
use kube::{Error, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The effect of [`create_or_update`] or [`create_or_patch`](fn@super::create_or_patch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationResult {
    /// The object did not exist.
    Created,
    /// The object differed.
    Updated,
    /// The object and its status differed.
    UpdatedStatus,
    /// Only the status differed.
    UpdatedStatusOnly,
    /// The object was as desired, so nothing was written.
    Unchanged,
}

/// [`create_or_update`] or [`create_or_patch`](fn@super::create_or_patch) failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateOrUpdateError {
    /// The object has no name.
    #[error("cannot create or update a {kind} without a name")]
    NoName {
        /// The object's kind.
        kind: String,
    },
    /// The server refused the request or was not reached. After a conflict with another writer, reconcile again.
    #[error("cannot {verb} {kind} {name:?}: {source}")]
    Api {
        /// `get`, `create`, `update`, `patch` or `patch the status of`.
        verb: &'static str,
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// The underlying error.
        source: Box<Error>,
    },
    /// The caller's function failed.
    #[error("cannot mutate {kind} {name:?}: {source}")]
    Mutate {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// Its error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The object cannot be written as JSON.
    #[error("cannot serialize {kind} {name:?} as JSON: {source}")]
    Serialize {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// The serialiser's error.
        source: serde_json::Error,
    },
    /// The caller's function has changed the object's name or namespace.
    #[error("{kind} {name:?}: cannot change the name or the namespace")]
    Renamed {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
    },
}

/// Reads the object that `object` names, calls `mutate` on it, and writes it if that changed it. If the object does
/// not exist, calls `mutate` on `object` and creates it.
///
/// `mutate` sets the desired fields and leaves others alone, so that the server's defaults do not count as
/// differences. Returns the server's object.
///
/// # Errors
///
/// [`CreateOrUpdateError`]. Nothing is written if `mutate` fails.
///
/// # Cancel safety
///
/// As for any request, the write may or may not have happened if the future is dropped.
pub async fn create_or_update<K, F, E>(
    api: &Api<K>,
    mut object: K,
    mutate: F,
) -> Result<(OperationResult, K), CreateOrUpdateError>
where
    K: Resource<DynamicType = ()> + Clone + PartialEq + Debug + Serialize + DeserializeOwned,
    F: FnOnce(&mut K) -> Result<(), E>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    let kind = K::kind(&()).into_owned();
    let Some(name) = object.meta().name.clone().filter(|name| !name.is_empty()) else {
        return Err(CreateOrUpdateError::NoName { kind });
    };
    let failed = |verb| {
        let (kind, name) = (kind.clone(), name.clone());
        move |source| CreateOrUpdateError::Api { verb, kind, name, source: Box::new(source) }
    };
    let known = api.get_opt(&name).await.map_err(failed("get"))?;
    let is_new = known.is_none();
    let before = known.clone();
    if let Some(known) = known {
        object = known;
    }
    let place = (object.meta().name.clone(), object.meta().namespace.clone());
    mutate(&mut object).map_err(|source| CreateOrUpdateError::Mutate {
        kind: kind.clone(),
        name: name.clone(),
        source: source.into(),
    })?;
    if place != (object.meta().name.clone(), object.meta().namespace.clone()) {
        return Err(CreateOrUpdateError::Renamed { kind, name });
    }
    if before.as_ref() == Some(&object) {
        return Ok((OperationResult::Unchanged, object));
    }
    let params = PostParams::default();
    if is_new {
        let created = api.create(&params, &object).await.map_err(failed("create"))?;
        return Ok((OperationResult::Created, created));
    }
    let updated = api.replace(&name, &params, &object).await.map_err(failed("update"))?;
    Ok((OperationResult::Updated, updated))
}
