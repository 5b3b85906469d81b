//! Admission handlers, and handlers from functions.

use std::future::Future;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::{AdmissionContext, AdmissionResponse};

/// Answers admission requests. For typed objects there are [`Defaulter`](super::Defaulter) and
/// [`Validator`](super::Validator).
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionContext, AdmissionHandler, AdmissionResponse};
///
/// // Keeps everybody but one user from deleting.
/// struct OnlyJane;
///
/// impl AdmissionHandler for OnlyJane {
///     async fn handle(&self, ctx: &AdmissionContext) -> AdmissionResponse {
///         match ctx.user().username.as_deref() {
///             Some("jane") => AdmissionResponse::allowed(),
///             _ => AdmissionResponse::denied("ask Jane"),
///         }
///     }
/// }
/// ```
pub trait AdmissionHandler: Send + Sync + 'static {
    /// Answers a request.
    ///
    /// # Panics
    ///
    /// A panic is caught. The API server gets an error with code 500, and the failure policy of the webhook
    /// decides.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at an await when the API server no longer waits.
    fn handle(&self, ctx: &AdmissionContext) -> impl Future<Output = AdmissionResponse> + Send;
}

/// A handler of any type.
pub(in crate::webhook) trait DynHandler: Send + Sync {
    fn handle<'a>(&'a self, ctx: &'a AdmissionContext) -> BoxFuture<'a, AdmissionResponse>;
}

impl<H: AdmissionHandler> DynHandler for H {
    fn handle<'a>(&'a self, ctx: &'a AdmissionContext) -> BoxFuture<'a, AdmissionResponse> {
        AdmissionHandler::handle(self, ctx).boxed()
    }
}

/// A handler that calls a function.
struct FnHandler<F>(F);

/// Makes a handler from a function of the call.
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionResponse, admission_fn};
///
/// let handler = admission_fn(|ctx| async move {
///     if ctx.is_dry_run() { AdmissionResponse::allowed() } else { AdmissionResponse::denied("only try") }
/// });
/// # let _ = handler;
/// ```
pub fn admission_fn<F, Fut>(function: F) -> impl AdmissionHandler
where
    F: Fn(AdmissionContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = AdmissionResponse> + Send,
{
    FnHandler(function)
}

impl<F, Fut> AdmissionHandler for FnHandler<F>
where
    F: Fn(AdmissionContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = AdmissionResponse> + Send,
{
    fn handle(&self, ctx: &AdmissionContext) -> impl Future<Output = AdmissionResponse> + Send {
        (self.0)(ctx.clone())
    }
}
