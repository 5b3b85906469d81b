//! One request for a resource.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hyper::upgrade::OnUpgrade;
use serde_json::Value;

use super::Server;
use crate::http::negotiate;
use crate::http::path::ResourcePath;
use crate::http::query::Query;
use crate::registry::ResourceDef;

/// One request for a resource.
pub(crate) struct Call<'a> {
    pub(crate) server: Arc<Server>,
    pub(crate) def: Arc<ResourceDef>,
    pub(crate) path: ResourcePath,
    pub(crate) query: Query,
    pub(crate) headers: &'a http::HeaderMap,
    pub(crate) body: Bytes,
    /// The user, in the form of `authentication.k8s.io`.
    pub(crate) user: Value,
    /// The time at which the request fails; `None` for long-running requests.
    pub(crate) deadline: Option<tokio::time::Instant>,
    /// A controller of the server sends the request.
    pub(crate) is_of_controller: bool,
    /// The server's own token, where it requires one.
    pub(crate) own_token: Option<Arc<str>>,
    pub(crate) accepted: negotiate::Accepted,
    /// The connection, for upgrades.
    pub(crate) upgrade: Option<OnUpgrade>,
    /// Warnings for the client, each text once.
    pub(crate) warnings: Mutex<Vec<String>>,
}

/// Marks requests of the server's controllers.
#[derive(Clone, Copy)]
pub(crate) struct OfController;

impl Call<'_> {
    /// Adds a text as a `Warning` header.
    pub(crate) fn warn(&self, text: &str) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !text.is_empty() && !warnings.iter().any(|known| known == text) {
            warnings.push(text.to_owned());
        }
    }

    /// Reports whether the request is about the scale of an object.
    pub(crate) fn is_for_scale(&self) -> bool {
        self.path.subresource == "scale"
    }

    /// Returns the field manager; if the client gives none, the first part of its user agent.
    pub(crate) fn manager(&self, given: &str) -> String {
        if !given.is_empty() {
            return given.to_owned();
        }
        let agent =
            self.headers.get(http::header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let name = agent.split('/').next().unwrap_or_default();
        if name.is_empty() { "unknown".to_owned() } else { name.chars().take(128).collect() }
    }
}
