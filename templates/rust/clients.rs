//! Clients of `__ApiVersion__`.

__imports__! {}
__interface__! {}

/// Client of the group-version `__ApiVersion__`: one accessor per kind.
#[derive(Clone, Debug)]
pub struct __GroupVersion__Client {
    rest: client::RestClient,
}

impl __GroupVersion__Client {
    /// Makes the client.
    #[must_use]
    pub fn new(client: ::kubesmith_runtime::kube::Client) -> Self {
        Self { rest: client::RestClient::new(client, "__group__", "__version__") }
    }

    /// The REST client that the group-version's clients share.
    #[must_use]
    pub fn rest_client(&self) -> &client::RestClient {
        &self.rest
    }

    __accessors__! {}
}
