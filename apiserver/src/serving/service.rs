//! The server as a `tower` service.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::http::{Request, Response};
use bytes::Bytes;
use hyper::upgrade::OnUpgrade;

use super::in_process;
use crate::http::reply::Body;
use crate::http::upgrade;
use crate::server::{Origin, Server};

/// The server as a `tower` service, for clients in the same process.
#[derive(Clone, Debug)]
pub struct ApiService {
    server: Arc<Server>,
    origin: Origin,
}

impl ApiService {
    pub(crate) fn new(server: Arc<Server>, origin: Origin) -> Self {
        Self { server, origin }
    }
}

impl<B> tower::Service<Request<B>> for ApiService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        request.extensions_mut().insert(self.origin.clone());
        let is_alone = request.extensions().get::<OnUpgrade>().is_none();
        Box::pin(async move {
            Ok(match is_alone && upgrade::is_asked(request.headers()) {
                true => in_process::answer(server, request).await,
                false => server.handle(request).await,
            })
        })
    }
}
