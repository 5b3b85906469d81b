//! What carts can do beside the verbs: written by hand, and taken in by the generated client.

use kubesmith_runtime::client::Result;

/// More verbs of a client of carts.
pub trait CartExpansion {
    /// Whether there is a cart of that name.
    ///
    /// # Errors
    /// The server's refusal or a failure of the transport.
    fn exists(&self, name: &str) -> impl Future<Output = Result<bool>> + Send;
}

impl CartExpansion for super::NamespacedCarts {
    async fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.typed().get_opt(name).await?.is_some())
    }
}
