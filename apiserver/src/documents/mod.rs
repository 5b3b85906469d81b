//! The OpenAPI documents that the server sends.

mod gnostic;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use serde_json::Value;

use crate::encode;
use crate::http::etag;

/// A document in JSON with its tag.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) json: Bytes,
    pub(crate) tag: String,
    protobuf: OnceLock<Option<Bytes>>,
}

impl Rendered {
    fn new(document: &Value) -> Self {
        let json = encode::to_vec(document);
        Self { tag: etag::of(&json), json: json.into(), protobuf: OnceLock::new() }
    }

    /// Returns the document as gnostic's message; `None` if it cannot be encoded.
    pub(crate) fn protobuf(&self, message: &'static str) -> Option<Bytes> {
        let encode = || {
            let value = serde_json::from_slice(&self.json).unwrap_or_default();
            let bytes = gnostic::encode(message, &value);
            bytes.inspect_err(|why| tracing::error!("OpenAPI document cannot be encoded: {why}")).ok()
        };
        self.protobuf.get_or_init(|| encode().map(Bytes::from)).clone()
    }
}

/// Rendered documents by name, each rendered at its first use.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<BTreeMap<String, Arc<OnceLock<Arc<Rendered>>>>>);

impl Documents {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the document with this name, which is made if it does not exist.
    pub(crate) fn get(&self, name: &str, document: impl FnOnce() -> Value) -> Arc<Rendered> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = all.entry(name.to_owned()).or_default().clone();
        drop(all);
        one.get_or_init(|| Arc::new(Rendered::new(&document()))).clone()
    }
}
