//! Bringing one child object in line.

use std::error::Error as StdError;
use std::fmt::Debug;

use kube::api::{Api, PostParams};
use kube::{Error, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What [`create_or_update`] or [`create_or_patch`](fn@super::create_or_patch) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationResult {
    /// The object was not there.
    Created,
    /// The object differed.
    Updated,
    /// The object and its status differed.
    UpdatedStatus,
    /// Only the status differed.
    UpdatedStatusOnly,
    /// The object was as it should be; nothing was written.
    Unchanged,
}

/// Why [`create_or_update`] or [`create_or_patch`](fn@super::create_or_patch) failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateOrUpdateError {
    /// The object has no name.
    #[error("cannot create or update a {kind} without a name")]
    NoName {
        /// The object's kind.
        kind: String,
    },
    /// The server refused, or was not reached. A conflict means that somebody else wrote the object: reconcile again.
    #[error("cannot {verb} {kind} {name:?}: {source}")]
    Api {
        /// `get`, `create`, `update`, `patch` or `patch the status of`.
        verb: &'static str,
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// The answer.
        source: Box<Error>,
    },
    /// The caller's function failed.
    #[error("cannot bring {kind} {name:?} in line: {source}")]
    Mutate {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// Its error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The object cannot be written as JSON.
    #[error("cannot write {kind} {name:?} as JSON: {source}")]
    Serialize {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The caller's function has changed the object's name or namespace.
    #[error("{kind} {name:?}: its name and namespace must stay as they are")]
    Renamed {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
    },
}

/// Reads the object that `object` names, lets `mutate` bring it in line, and writes it if that changed it. Where
/// there is none, `object` itself is brought in line and created.
///
/// `mutate` sets what is desired and leaves alone what it does not care for, so that the server's defaults do not
/// count as differences. Returns what the server has now.
///
/// # Errors
///
/// [`CreateOrUpdateError`]. Nothing was written where `mutate` failed.
///
/// # Cancel safety
///
/// Dropping the future may leave the write done or undone, as with any request.
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
