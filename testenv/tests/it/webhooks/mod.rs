//! Webhooks: a real HTTPS server in the test, called by the API server.

mod admission;
mod conversion;
mod failures;
mod host;
mod matching;
mod metadata;
mod server;

pub(crate) use server::{HookServer, answered, hook, mutating, patched};
