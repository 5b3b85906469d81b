//! Connections that switch from HTTP to WebSockets, over a socket or in the process.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use ::http::header::{CONNECTION, HeaderName, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use ::http::{HeaderMap, Request, Response, StatusCode};
use base64::Engine as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::watch as signal;
use tokio::task::JoinSet;

use super::reply::{Body, Reply};
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// The string that is hashed with a client's key (RFC 6455, section 1.3).
const HANDSHAKE: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The buffer size of a connection in the process, in bytes.
const BUFFER: usize = 64 * 1024;

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Reports whether a client requests another protocol than HTTP (`IsUpgradeRequest` of apimachinery's httpstream).
pub(crate) fn is_asked(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.into_iter().any(|value| value.to_ascii_lowercase().contains("upgrade"))
}

/// Switches a connection to a WebSocket with the first of `protocols` that the client supports.
///
/// # Errors
/// Returns `BadRequest` if the client supports none of them.
pub(crate) fn accept(headers: &HeaderMap, protocols: &[&'static str]) -> ApiResult<Reply> {
    let known =
        || format!("this server streams over WebSockets with the subprotocol {}", protocols.join(" or "));
    if !text(headers, &UPGRADE).eq_ignore_ascii_case("websocket") {
        return Err(ApiError::bad_request(known()));
    }
    let offered: Vec<&str> = text(headers, &SEC_WEBSOCKET_PROTOCOL).split(',').map(str::trim).collect();
    let Some(protocol) = protocols.iter().find(|protocol| offered.contains(protocol)) else {
        return Err(ApiError::bad_request(known()));
    };
    let key = format!("{}{HANDSHAKE}", text(headers, &SEC_WEBSOCKET_KEY));
    let hash = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    let hash = base64::engine::general_purpose::STANDARD.encode(hash);
    let reply = Reply::empty(StatusCode::SWITCHING_PROTOCOLS.as_u16());
    let reply = reply.with_header(CONNECTION, "Upgrade").with_header(UPGRADE, "websocket");
    let reply = reply.with_header(SEC_WEBSOCKET_PROTOCOL, protocol);
    Ok(reply.with_header(::http::header::SEC_WEBSOCKET_ACCEPT, &hash))
}

/// The tasks of upgraded connections. They end with the server.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<JoinSet<()>>);

impl Sessions {
    /// Starts a task that ends when the server stops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while all.try_join_next().is_some() {}
        all.spawn(task);
    }

    /// Waits until all tasks have ended.
    pub(crate) async fn ended(&self) {
        let mut all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        while all.join_next().await.is_some() {}
    }
}

/// Serves a connection to its end, or until the server stops. Errors of a client only end its own connection.
async fn carry(mut stopping: signal::Receiver<bool>, connection: impl Future<Output = hyper::Result<()>>) {
    tokio::select! {
        _ = connection => {}
        _ = stopping.wait_for(|stops| *stops) => {}
    }
}

/// Handles a request for an upgrade that has no connection: it gets one in the process.
pub(crate) async fn in_process<B: http_body::Body>(
    server: Arc<Server>,
    request: Request<B>,
) -> Response<Body> {
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
