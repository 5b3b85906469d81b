//! The webhooks as a service, for API servers in the same process and for other HTTP servers.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;

use super::Server;
use super::router::Router;

/// The webhooks of a [`Server`] without socket and certificate. Clones share them.
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use kubesmith_runtime::webhook::{AdmissionResponse, Server, admission_fn};
/// use tower::ServiceExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let check = admission_fn(|_| async { AdmissionResponse::allowed() });
/// let service = Server::builder().admission("/check", check).build()?.into_service();
/// let request = http::Request::post("/other").body(Full::new(Bytes::from("{}")))?;
/// assert_eq!(service.oneshot(request).await?.status(), 404);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WebhookService(Arc<Router>);

impl fmt::Debug for WebhookService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookService").finish_non_exhaustive()
    }
}

impl Server {
    /// Returns the webhooks as a [`WebhookService`], which a test can call without socket and certificate.
    #[must_use]
    pub fn into_service(self) -> WebhookService {
        let registry = self.registry.unwrap_or_default();
        WebhookService(Arc::new(Router::new(self.hooks, self.timeout, &registry)))
    }
}

impl<B> tower::Service<Request<B>> for WebhookService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let router = self.0.clone();
        async move { router.serve(request).await }.boxed()
    }
}
