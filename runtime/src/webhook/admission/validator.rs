//! Typed validating webhooks.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use kube::core::Resource;
use serde::de::DeserializeOwned;

use super::{AdmissionContext, AdmissionError, AdmissionHandler, AdmissionResponse, Operation};
use crate::webhook::RawObject;

/// Warnings for the client of an allowed write, best at most 120 characters each.
pub type Warnings = Vec<String>;

/// Decides whether objects of a kind may be created, updated and deleted.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::webhook::{
///     AdmissionContext, AdmissionError, FieldError, FieldErrors, FieldPath, Validator, Warnings,
/// };
///
/// struct Maps;
///
/// impl Validator<ConfigMap> for Maps {
///     async fn validate_create(&self, _: &AdmissionContext, map: &ConfigMap) -> Result<Warnings, AdmissionError> {
///         match &map.data {
///             Some(_) => Ok(vec![]),
///             None => Ok(vec!["a map without data is of no use".to_owned()]),
///         }
///     }
///
///     async fn validate_update(
///         &self,
///         _: &AdmissionContext,
///         old: &ConfigMap,
///         new: &ConfigMap,
///     ) -> Result<Warnings, AdmissionError> {
///         let mut errors = FieldErrors::new();
///         if old.data.is_some() && new.data.is_none() {
///             errors.push(FieldError::forbidden(FieldPath::new("data"), "data cannot be taken away"));
///         }
///         errors.into_result()?;
///         Ok(vec![])
///     }
/// }
/// ```
pub trait Validator<K>: Send + Sync + 'static {
    /// Checks a new object.
    ///
    /// # Errors
    ///
    /// Any error refuses the write; see [`AdmissionError`].
    fn validate_create(
        &self,
        ctx: &AdmissionContext,
        object: &K,
    ) -> impl Future<Output = Result<Warnings, AdmissionError>> + Send;

    /// Checks an update from `old` to `new`.
    ///
    /// # Errors
    ///
    /// Any error refuses the write; see [`AdmissionError`].
    fn validate_update(
        &self,
        ctx: &AdmissionContext,
        old: &K,
        new: &K,
    ) -> impl Future<Output = Result<Warnings, AdmissionError>> + Send;

    /// Checks a deletion; allows it by default. It is only called if the webhook has a rule for `DELETE`.
    ///
    /// # Errors
    ///
    /// Any error refuses the deletion; see [`AdmissionError`].
    fn validate_delete(
        &self,
        ctx: &AdmissionContext,
        object: &K,
    ) -> impl Future<Output = Result<Warnings, AdmissionError>> + Send {
        let _ = (ctx, object);
        async { Ok(Warnings::new()) }
    }
}

/// The handler for a [`Validator`].
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::webhook::{Server, ServerBuilder, Validating, Validator};
///
/// fn server(maps: impl Validator<ConfigMap>) -> ServerBuilder {
///     Server::builder().admission("/validate-maps", Validating::new(maps))
/// }
/// ```
pub struct Validating<K, V> {
    validator: V,
    kind: PhantomData<fn(K)>,
}

impl<K, V: Validator<K>> Validating<K, V> {
    /// Makes a handler that calls `validator`.
    pub fn new(validator: V) -> Self {
        Validating { validator, kind: PhantomData }
    }
}

impl<K, V> AdmissionHandler for Validating<K, V>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    V: Validator<K>,
{
    async fn handle(&self, ctx: &AdmissionContext) -> AdmissionResponse {
        let request = ctx.request();
        let answer = match request.operation {
            Operation::Connect => Ok(Warnings::new()),
            Operation::Create => match typed(request.object.as_ref(), "object") {
                Ok(object) => self.validator.validate_create(ctx, &object).await,
                Err(bad) => return *bad,
            },
            Operation::Update => {
                let old = typed(request.old_object.as_ref(), "oldObject");
                match (old, typed(request.object.as_ref(), "object")) {
                    (Ok(old), Ok(new)) => self.validator.validate_update(ctx, &old, &new).await,
                    (Err(bad), _) | (_, Err(bad)) => return *bad,
                }
            }
            Operation::Delete => match typed(request.old_object.as_ref(), "oldObject") {
                Ok(object) => self.validator.validate_delete(ctx, &object).await,
                Err(bad) => return *bad,
            },
        };
        match answer {
            Ok(warnings) => AdmissionResponse::allowed().with_warnings(warnings),
            Err(error) => error.into_response(request),
        }
    }
}

fn typed<K>(raw: Option<&RawObject>, field: &str) -> Result<K, Box<AdmissionResponse>>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let bad = |text: String| Box::new(AdmissionResponse::errored(400, text));
    let raw = raw.ok_or_else(|| bad(format!("the request has no {field} to validate")))?;
    raw.decode().map_err(|error| bad(error.to_string()))
}

impl<K, V> fmt::Debug for Validating<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validating").finish_non_exhaustive()
    }
}
