//! The HTTP side: paths, queries, bodies, content negotiation and responses.

pub(crate) mod decode;
pub(crate) mod etag;
pub(crate) mod list_options;
pub(crate) mod negotiate;
pub(crate) mod path;
pub(crate) mod protobuf;
pub(crate) mod query;
pub(crate) mod reply;
pub(crate) mod upgrade;
mod warning;
