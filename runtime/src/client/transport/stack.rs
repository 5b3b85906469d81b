//! Builds the stack that sends requests from a configuration: kube's layers over connections.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{Request, Response};
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::config::AuthInfo;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

use super::body::Wire;
use super::connections::Connections;
use super::gzip::Gunzip;
use crate::client::ClientOptions;
use crate::client::drive::DriverExecutor;

/// A response that is decompressed as it is read.
pub(super) type Answer = Response<Wire>;

/// Address, credentials, headers and connections.
#[derive(Clone)]
pub(super) struct Stack {
    service: BoxCloneSyncService<Request<Body>, Answer, BoxError>,
    /// `None` for kube's own stack.
    connections: Option<Connections>,
}

/// Reports whether reading the credentials again may return new ones.
pub(super) fn can_change(auth: &AuthInfo) -> bool {
    auth.token_file.is_some() || auth.auth_provider.is_some() || has_new_certificates(auth)
}

/// Reports whether reading them again may return a new client certificate, which needs new connections.
fn has_new_certificates(auth: &AuthInfo) -> bool {
    auth.exec.is_some() || auth.client_certificate.is_some() || auth.client_key.is_some()
}

impl Stack {
    pub(super) fn new(config: &kube::Config, options: &ClientOptions) -> kube::Result<Self> {
        if config.proxy_url.is_some() {
            return Self::through_proxy(config.clone());
        }
        Self::over(Connections::new(config, options)?, config)
    }

    /// Returns the stack with freshly read credentials. Running requests are not affected.
    pub(super) fn reload(&self, config: &kube::Config, options: &ClientOptions) -> kube::Result<Self> {
        match &self.connections {
            Some(connections) if !has_new_certificates(&config.auth_info) => {
                Self::over(connections.clone(), config)
            }
            _ => Self::new(config, options),
        }
    }

    fn over(connections: Connections, config: &kube::Config) -> kube::Result<Self> {
        let service = ServiceBuilder::new()
            .layer(config.base_uri_layer())
            .option_layer(config.auth_layer()?)
            .layer(config.extra_headers_layer()?)
            .map_err(BoxError::from)
            .service(connections.clone());
        let service = BoxCloneSyncService::new(service.map_err(BoxError::from));
        Ok(Self { service, connections: Some(connections) })
    }

    /// Uses kube's proxy support, if it is built in (kube's features `http-proxy` and `socks5`); otherwise returns
    /// kube's error.
    fn through_proxy(config: kube::Config) -> kube::Result<Self> {
        let client = ClientBuilder::try_from((config, DriverExecutor))?.build();
        let client = Arc::new(client);
        let service = tower::service_fn(move |request: Request<Body>| {
            let client = Arc::clone(&client);
            async move { Ok(client.send(request).await?.map(Wire::kube)) }
        });
        Ok(Self { service: BoxCloneSyncService::new(service), connections: None })
    }

    /// Makes a stack whose server is a function.
    #[cfg(test)]
    pub(super) fn of<S>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Answer, Error = BoxError> + Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        Self { service: BoxCloneSyncService::new(service), connections: None }
    }
}

impl Service<Request<Body>> for Stack {
    type Response = Answer;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Answer, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.service.call(request);
        Box::pin(async move { Ok(decompressed(answer.await?)) })
    }
}

/// Decompresses a compressed body as it is read.
fn decompressed(mut answer: Answer) -> Answer {
    let is_gzip = answer.headers().get(CONTENT_ENCODING).is_some_and(|value| value == "gzip");
    if is_gzip {
        answer.headers_mut().remove(CONTENT_ENCODING);
        answer.headers_mut().remove(CONTENT_LENGTH);
        answer.body_mut().gunzip = Some(Box::new(Gunzip::new()));
    }
    answer
}
