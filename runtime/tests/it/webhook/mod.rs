//! The webhook server: over sockets, and called by an API server.

mod api_server;
mod connections;
mod conversion;
mod manager;
mod rotation;
#[cfg(feature = "cert-rotation")]
mod self_managed;
mod support;
