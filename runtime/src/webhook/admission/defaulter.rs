//! Typed mutating webhooks.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use kube::core::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::merge::carried_over;
use super::{AdmissionContext, AdmissionError, AdmissionHandler, AdmissionResponse, Operation};

/// Sets defaults on objects of a kind before they are stored.
///
/// It changes the typed object, and the patch contains only its changes. Fields that the type does not know stay,
/// and fields that the type writes by itself are not added ([`Defaulting::removing_unknown_fields`] patches to
/// exactly the type's output).
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::webhook::{AdmissionContext, AdmissionError, Defaulter};
///
/// struct Maps;
///
/// impl Defaulter<ConfigMap> for Maps {
///     async fn default(&self, ctx: &AdmissionContext, map: &mut ConfigMap) -> Result<(), AdmissionError> {
///         let by = ctx.user().username.clone().unwrap_or_default();
///         map.metadata.annotations.get_or_insert_default().entry("example.com/by".to_owned()).or_insert(by);
///         Ok(())
///     }
/// }
/// ```
pub trait Defaulter<K>: Send + Sync + 'static {
    /// Sets defaults. It is called for all operations in the webhook's rules except deletions.
    ///
    /// # Errors
    ///
    /// Any error refuses the write; see [`AdmissionError`].
    fn default(
        &self,
        ctx: &AdmissionContext,
        object: &mut K,
    ) -> impl Future<Output = Result<(), AdmissionError>> + Send;
}

/// A function that sets defaults, such as the generated `set_object_defaults_...`.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::webhook::{Defaulting, Server};
///
/// fn set_object_defaults_config_map(map: &mut ConfigMap) {
///     map.immutable.get_or_insert(false);
/// }
/// let _ = Server::builder().admission("/mutate-maps", Defaulting::new(set_object_defaults_config_map));
/// ```
impl<K, F: Fn(&mut K) + Send + Sync + 'static> Defaulter<K> for F {
    fn default(
        &self,
        _: &AdmissionContext,
        object: &mut K,
    ) -> impl Future<Output = Result<(), AdmissionError>> + Send {
        self(object);
        std::future::ready(Ok(()))
    }
}

/// The handler for a [`Defaulter`].
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::webhook::{Defaulter, Defaulting, Server};
///
/// fn server(maps: impl Defaulter<ConfigMap>) -> kubesmith_runtime::webhook::ServerBuilder {
///     Server::builder().admission("/mutate-maps", Defaulting::new(maps).removing_unknown_fields())
/// }
/// ```
pub struct Defaulting<K, D> {
    defaulter: D,
    removes_unknown: bool,
    kind: PhantomData<fn(K)>,
}

impl<K, D: Defaulter<K>> Defaulting<K, D> {
    /// Makes a handler that calls `defaulter`.
    pub fn new(defaulter: D) -> Self {
        Defaulting { defaulter, removes_unknown: false, kind: PhantomData }
    }

    /// Patches to exactly the type's output: removes fields that the type does not know, and adds fields that it
    /// writes by itself (controller-runtime's `DefaulterRemoveUnknownOrOmitableFields`).
    #[must_use]
    pub fn removing_unknown_fields(mut self) -> Self {
        self.removes_unknown = true;
        self
    }
}

impl<K, D> AdmissionHandler for Defaulting<K, D>
where
    K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
    D: Defaulter<K>,
{
    async fn handle(&self, ctx: &AdmissionContext) -> AdmissionResponse {
        if ctx.operation() == Operation::Delete {
            return AdmissionResponse::allowed();
        }
        let Some(raw) = &ctx.request().object else {
            return AdmissionResponse::errored(400, "the request has no object to set defaults on");
        };
        let mut object: K = match raw.decode() {
            Ok(object) => object,
            Err(error) => return AdmissionResponse::errored(400, error),
        };
        let before = serde_json::to_value(&object);
        if let Err(error) = self.defaulter.default(ctx, &mut object).await {
            return error.into_response(ctx.request());
        }
        match (raw.to_value(), before, serde_json::to_value(&object)) {
            (Ok(raw), Ok(_), Ok(after)) if self.removes_unknown => {
                AdmissionResponse::patched_from(&raw, &after)
            }
            (Ok(raw), Ok(before), Ok(after)) => {
                AdmissionResponse::patched_from(&raw, &carried_over(&raw, &before, &after))
            }
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                AdmissionResponse::errored(500, format!("cannot write the object as JSON: {error}"))
            }
        }
    }
}

impl<K, D> fmt::Debug for Defaulting<K, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defaulting").field("removes_unknown", &self.removes_unknown).finish_non_exhaustive()
    }
}
