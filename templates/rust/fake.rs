//! The fake clientset: the clients of this package for unit tests, on an API server inside the test.

/// A [`Clientset`](super::Clientset) that records its requests, puts them to reactors, and then to an API server of its
/// own. `FakeClientset::new(objects)` makes one with objects in it.
pub type FakeClientset = ::kubesmith_testenv::fake::Fake<super::Clientset>;

impl ::kubesmith_testenv::fake::FakeClients for super::Clientset {
    const CRDS: &'static str = ::core::include_str!("../../crds.json");

    fn of_client(client: ::kubesmith_runtime::kube::Client) -> Self {
        Self::new(client)
    }
}

impl super::Interface for FakeClientset {
    #[each(version)]
    type __GroupVersion__ = super::typed::__group__::__version__::__GroupVersion__Client;

    fn discovery(&self) -> ::kubesmith_runtime::client::Discovery {
        super::Clientset::discovery(self)
    }

    #[each(version)]
    fn __group_version__(&self) -> Self::__GroupVersion__ {
        super::Clientset::__group_version__(self)
    }
}
