//! Connections in the process, for requests that switch to WebSockets.

use std::convert::Infallible;
use std::sync::Arc;

use ::http::{Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::watch as signal;

use crate::http::reply::{Body, Reply};
use crate::server::Server;
use crate::status::ApiError;

/// The buffer size of a connection, in bytes.
const BUFFER: usize = 64 * 1024;

/// Serves a connection to its end, or until the server stops. Errors of a client only end its own connection.
async fn carry(mut stopping: signal::Receiver<bool>, connection: impl Future<Output = hyper::Result<()>>) {
    tokio::select! {
        _ = connection => {}
        _ = stopping.wait_for(|stops| *stops) => {}
    }
}

/// Handles a request for an upgrade that has no connection: it gets one in the process.
pub(super) async fn answer<B: http_body::Body>(server: Arc<Server>, request: Request<B>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Reply::error(&ApiError::bad_request("the body of the request cannot be read"))
            .into_response();
    };
    let answer = connect(server, Request::from_parts(parts, Full::new(body.to_bytes()))).await;
    answer.unwrap_or_else(|error| Reply::error(&ApiError::internal(error.to_string())).into_response())
}

async fn connect(server: Arc<Server>, request: Request<Full<Bytes>>) -> hyper::Result<Response<Body>> {
    let (near, far) = tokio::io::duplex(BUFFER);
    // The user is an extension, which a connection would lose.
    let extensions = request.extensions().clone();
    let answering = server.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let upgrade = request.extensions_mut().remove::<OnUpgrade>();
        *request.extensions_mut() = extensions.clone();
        if let Some(upgrade) = upgrade {
            request.extensions_mut().insert(upgrade);
        }
        let server = answering.clone();
        async move { Ok::<_, Infallible>(server.handle(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), service);
    server.sessions.spawn(carry(server.stopping(), connection.with_upgrades()));
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near)).await?;
    server.sessions.spawn(carry(server.stopping(), connection.with_upgrades()));
    let (parts, body) = sender.send_request(request).await?.into_parts();
    let body = match parts.status {
        StatusCode::SWITCHING_PROTOCOLS => Bytes::new(),
        _ => body.collect().await?.to_bytes(),
    };
    Ok(Response::from_parts(parts, Full::new(body).boxed_unsync()))
}
