//! The webhook server: over sockets, and called by an API server.

mod api_server;
mod connections;
mod conversion;
mod manager;
mod rotation;
mod support;
