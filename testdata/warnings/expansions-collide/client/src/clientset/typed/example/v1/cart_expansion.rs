//! What a client of carts has already, in itself and by traits.

use super::{CartInterface, NamespacedCarts as Client};
use crate::clientset::Clientset;

/// One of its methods is hidden, both can be told from another's only by their trait.
pub trait CartExpansion {
    fn get(&self, name: &str) -> bool;
    fn exists(&self, name: &str) -> bool;
}

impl CartExpansion for Client {
    fn get(&self, _: &str) -> bool {
        true
    }

    fn exists(&self, _: &str) -> bool {
        true
    }
}

/// For all clients.
pub trait AnyCarts: CartInterface {
    fn list(&self) {}
    fn count(&self) {}
}

impl<T: CartInterface> AnyCarts for T {}

impl super::ExampleV1Client {
    pub fn new(&self) {}
    pub fn count(&self) {}

    #[cfg(feature = "none")]
    pub fn rest_client(&self) {}
}

impl Clientset {
    pub fn everything(&self) {}
}

impl std::fmt::Debug for super::ExampleV1Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExampleV1Client")
    }
}

impl From<super::Carts> for super::NamespacedCarts {
    fn from(carts: super::Carts) -> Self {
        carts.namespace("default")
    }
}

/// A name that stands for the generated client everywhere else.
pub struct NamespacedCarts;
