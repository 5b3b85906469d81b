//! The future that a verb of a generated trait returns.

use super::Result;

/// A request under way: a future of its [`Result`], which may move between threads. The verbs of the generated traits return
/// it; an implementation writes `async fn`.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::client::{ResponseFuture, Result};
///
/// trait ConfigMapInterface: Send + Sync + 'static {
///     fn get(&self, name: &str) -> impl ResponseFuture<ConfigMap>;
/// }
///
/// /// Answers an empty map, whatever it is asked for.
/// struct Empty;
///
/// impl ConfigMapInterface for Empty {
///     async fn get(&self, _name: &str) -> Result<ConfigMap> {
///         Ok(ConfigMap::default())
///     }
/// }
///
/// async fn size(maps: &impl ConfigMapInterface, name: &str) -> Result<usize> {
///     Ok(maps.get(name).await?.data.unwrap_or_default().len())
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(size(&Empty, "settings").await.unwrap(), 0);
/// # });
/// ```
pub trait ResponseFuture<T>: Future<Output = Result<T>> + Send {}

impl<T, F> ResponseFuture<T> for F where F: Future<Output = Result<T>> + Send {}
