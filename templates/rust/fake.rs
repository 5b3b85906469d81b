//! The fake clientset: the clients of this package for unit tests, on an API server inside the test.

use super::Clientset;

/// A [`Clientset`] that records its requests, puts them to reactors, and then to an API server of its own.
/// `FakeClientset::new(objects)` makes one with objects in it.
pub type FakeClientset = ::kubesmith_testenv::fake::Fake<Clientset>;

impl ::kubesmith_testenv::fake::FakeClients for Clientset {
    const CRDS: &'static str = ::core::include_str!("../crds.json");

    fn of_client(client: ::kubesmith_runtime::kube::Client) -> Self {
        Self::new(client)
    }
}
