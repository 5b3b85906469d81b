//! Connections that switch from HTTP to WebSockets.

use std::sync::{Mutex, PoisonError};

use ::http::header::{CONNECTION, HeaderName, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use ::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use tokio::task::JoinSet;

use super::reply::Reply;
use crate::status::{ApiError, ApiResult};

/// The string that is hashed with a client's key (RFC 6455, section 1.3).
const HANDSHAKE: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

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
