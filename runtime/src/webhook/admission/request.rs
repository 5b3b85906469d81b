//! What an API server asks.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::{GroupVersionKind, GroupVersionResource};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::webhook::RawObject;

/// What is done to the object. [`AdmissionContext`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// It is deleted.
    Delete,
    /// A connection to it is opened, as by `kubectl exec`.
    Connect,
}

/// A write that an API server puts to a webhook: the `request` of an `AdmissionReview`.
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
    /// Names this call; the server puts it into the answer.
    pub uid: String,
    /// Kind of the object, as the webhook's rules name it.
    pub kind: GroupVersionKind,
    /// Resource, as the webhook's rules name it.
    pub resource: GroupVersionResource,
    /// `status`, `scale`, ...; none for the object itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_resource: Option<String>,
    /// The kind that the client used, where the API server converted the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource that the client used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The subresource that the client used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sub_resource: Option<String>,
    /// The object's name; empty while the API server has yet to make one from `generateName`.
    #[serde(default)]
    pub name: String,
    /// The object's namespace; none for what is in no namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What is done.
    pub operation: Operation,
    /// Who asks.
    #[serde(default)]
    pub user_info: UserInfo,
    /// The object as it is to be; none in a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<RawObject>,
    /// The object as it is; only in updates and deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_object: Option<RawObject>,
    /// Nothing will be stored, so a handler must do nothing that outlasts the call.
    #[serde(default)]
    pub dry_run: bool,
    /// `CreateOptions`, `UpdateOptions` or `DeleteOptions` of the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<RawObject>,
}

/// The call that a handler works on: the request, and how long an answer is waited for.
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
    /// A call that has to be answered by `deadline`; for tests of handlers.
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

    /// The same call about the object as an earlier handler left it.
    pub(super) fn with_object(&self, object: RawObject) -> Self {
        let request = AdmissionRequest { object: Some(object), ..AdmissionRequest::clone(&self.request) };
        AdmissionContext { request: Arc::new(request), ..self.clone() }
    }

    /// What is asked.
    #[must_use]
    pub fn request(&self) -> &AdmissionRequest {
        &self.request
    }

    /// Who asks.
    #[must_use]
    pub fn user(&self) -> &UserInfo {
        &self.request.user_info
    }

    /// What is done to the object.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.request.operation
    }

    /// `status`, `scale`, ...; none for the object itself.
    #[must_use]
    pub fn sub_resource(&self) -> Option<&str> {
        self.request.sub_resource.as_deref().filter(|name| !name.is_empty())
    }

    /// Nothing will be stored.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.request.dry_run
    }

    /// When the API server stops waiting. The handler's future is dropped then.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// How long the API server still waits.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Ends when the call has: it was answered, its time is over, or the API server hung up. For work that the handler
    /// started elsewhere; the handler's own future is dropped.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        self.ended.clone().cancelled_owned()
    }
}
