//! Admission requests.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::{GroupVersionKind, GroupVersionResource};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::webhook::RawObject;

/// The operation on the object. [`AdmissionContext`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// The object is created.
    Create,
    /// The object is updated.
    Update,
    /// The object is deleted.
    Delete,
    /// A connection to the object is opened, as by `kubectl exec`.
    Connect,
}

/// A write that an API server sends to a webhook: the `request` of an `AdmissionReview`.
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionRequest, Operation};
/// use serde_json::json;
///
/// let request: AdmissionRequest = serde_json::from_value(json!({
///     "uid": "1", "operation": "CREATE", "name": "a", "namespace": "default", "dryRun": true,
///     "kind": {"group": "", "version": "v1", "kind": "Pod"},
///     "resource": {"group": "", "version": "v1", "resource": "pods"},
///     "userInfo": {"username": "jane"},
///     "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}},
/// }))?;
/// assert_eq!((request.operation, request.dry_run), (Operation::Create, true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionRequest {
    /// Identifies this call. The server copies it into the response.
    pub uid: String,
    /// The object's kind, as in the webhook's rules.
    pub kind: GroupVersionKind,
    /// The resource, as in the webhook's rules.
    pub resource: GroupVersionResource,
    /// `status`, `scale`, ...; `None` for the object itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_resource: Option<String>,
    /// The kind that the client used, if the API server converted the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource that the client used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The subresource that the client used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sub_resource: Option<String>,
    /// The object's name; empty if the API server has yet to generate it from `generateName`.
    #[serde(default)]
    pub name: String,
    /// The object's namespace; `None` for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The operation.
    pub operation: Operation,
    /// The client's identity.
    #[serde(default)]
    pub user_info: UserInfo,
    /// The object after the operation; `None` for deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<RawObject>,
    /// The object before the operation; only for updates and deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_object: Option<RawObject>,
    /// Nothing will be stored, so the handler must have no side effects.
    #[serde(default)]
    pub dry_run: bool,
    /// `CreateOptions`, `UpdateOptions` or `DeleteOptions` of the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<RawObject>,
}

/// A call of a handler: the request, and the time limit of the response.
///
/// Clones share the request.
///
/// ```
/// use std::time::Duration;
/// use kubesmith_runtime::webhook::{AdmissionContext, AdmissionResponse, Operation};
///
/// async fn check(ctx: &AdmissionContext) -> AdmissionResponse {
///     if ctx.operation() != Operation::Create || ctx.sub_resource().is_some() {
///         return AdmissionResponse::allowed();
///     }
///     println!("{:?} creates {} until {:?}", ctx.user().username, ctx.request().name, ctx.deadline());
///     if !ctx.is_dry_run() && ctx.remaining() > Duration::from_secs(1) {
///         let ended = ctx.ended();
///         tokio::spawn(async move {
///             ended.await;
///             println!("the call is over");
///         });
///     }
///     AdmissionResponse::allowed()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct AdmissionContext {
    request: Arc<AdmissionRequest>,
    deadline: Instant,
    ended: CancellationToken,
}

impl AdmissionContext {
    /// Creates a call with a response due by `deadline`, for tests of handlers.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use kubesmith_runtime::webhook::{AdmissionContext, AdmissionRequest};
    /// use tokio::time::Instant;
    ///
    /// fn call(request: AdmissionRequest) -> AdmissionContext {
    ///     AdmissionContext::new(request, Instant::now() + Duration::from_secs(10))
    /// }
    /// ```
    #[must_use]
    pub fn new(request: AdmissionRequest, deadline: Instant) -> Self {
        Self::of_call(request, deadline, CancellationToken::new())
    }

    pub(super) fn of_call(request: AdmissionRequest, deadline: Instant, ended: CancellationToken) -> Self {
        AdmissionContext { request: Arc::new(request), deadline, ended }
    }

    /// Returns the same call with the object that an earlier handler left.
    pub(super) fn with_object(&self, object: RawObject) -> Self {
        let request = AdmissionRequest { object: Some(object), ..AdmissionRequest::clone(&self.request) };
        AdmissionContext { request: Arc::new(request), ..self.clone() }
    }

    /// Returns the request.
    #[must_use]
    pub fn request(&self) -> &AdmissionRequest {
        &self.request
    }

    /// Returns the client's identity.
    #[must_use]
    pub fn user(&self) -> &UserInfo {
        &self.request.user_info
    }

    /// Returns the operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.request.operation
    }

    /// Returns `status`, `scale`, ...; `None` for the object itself.
    #[must_use]
    pub fn sub_resource(&self) -> Option<&str> {
        self.request.sub_resource.as_deref().filter(|name| !name.is_empty())
    }

    /// Reports whether the request is a dry run.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.request.dry_run
    }

    /// Returns when the API server stops waiting. The handler's future is dropped then.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns how much longer the API server waits.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Ends with the call: after the response, a timeout, or a disconnect of the API server. For work that the
    /// handler started in other tasks; the handler's own future is dropped.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        self.ended.clone().cancelled_owned()
    }
}
