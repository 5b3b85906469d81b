//! Decodes requests as the server does: paths, queries and bodies.

pub use crate::http::path::{ResourcePath, Target, parse as parse_path};
pub use crate::http::query::Query;

use serde_json::Value;

use crate::http::{decode, protobuf};

/// Decodes a body in JSON or YAML; `None` if it is neither.
#[must_use]
pub fn read_json_or_yaml(body: &[u8]) -> Option<Value> {
    decode::json(body).or_else(|_| decode::yaml(body)).ok().map(|decoded| decoded.value)
}

/// Reports whether a body is in Kubernetes' protobuf envelope.
#[must_use]
pub fn is_protobuf(body: &[u8]) -> bool {
    body.starts_with(protobuf::MAGIC)
}

/// Decodes a body in Kubernetes' protobuf envelope; `None` if it is malformed or its kind is unknown.
#[must_use]
pub fn read_protobuf(body: &[u8]) -> Option<Value> {
    protobuf::decode(body).ok()
}
