//! The future that a verb of a client's trait returns.

use super::Result;

/// A request under way: a future of its [`Result`], which may move between threads. The traits of [`verbs`](super::verbs) and
/// generated ones return it, as [`patch`](super::verbs::Patch::patch) does; an implementation writes `async fn`.
pub trait ResponseFuture<T>: Future<Output = Result<T>> + Send {}

impl<T, F> ResponseFuture<T> for F where F: Future<Output = Result<T>> + Send {}
