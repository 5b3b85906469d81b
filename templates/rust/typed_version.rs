//! Clients of `__ApiVersion__`.

#[each(kind)]
pub mod __module__;

#[each(kind)]
#[when(cluster)]
#[when(reexport)]
pub use self::__module__::{__Kind__Interface, __Plural__, __Getter__};
#[each(kind)]
#[when(namespaced)]
#[when(reexport)]
pub use self::__module__::{__Kind__Interface, __Client__, __Plural__, __Getter__};
/// Gives the clients of every kind of `__ApiVersion__`: for code that takes any client, and for
/// clients of your own.
pub trait __GroupVersion__Interface: __Getters__ {}

impl __GroupVersion__Interface for __GroupVersion__Client {}

/// Client of the group-version `__ApiVersion__`: one accessor per kind.
#[derive(Clone, Debug)]
pub struct __GroupVersion__Client {
    rest: ::kubesmith_runtime::client::RestClient,
}

impl __GroupVersion__Client {
    /// Makes the client.
    #[must_use]
    pub fn new(client: ::kubesmith_runtime::kube::Client) -> Self {
        Self { rest: ::kubesmith_runtime::client::RestClient::new(client, "__Group_Name__", "__version_name__") }
    }

    /// The REST client that the group-version's clients share.
    #[must_use]
    pub fn rest_client(&self) -> &::kubesmith_runtime::client::RestClient {
        &self.rest
    }

    /// Client of `__Kind__` objects.
    #[each(kind)]
    #[must_use]
    pub fn __accessor__(&self) -> self::__module__::__Plural__ {
        self::__module__::__Plural__::new(self.rest.clone())
    }
}
