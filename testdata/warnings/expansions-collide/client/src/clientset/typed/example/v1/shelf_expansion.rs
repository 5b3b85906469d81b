//! What another file has already.

use super::cart_expansion::CartExpansion;
use super::{NamespacedCarts, Shelves};

/// A method of the trait has the name of another trait's.
pub trait ShelfExpansion {
    fn exists(&self, name: &str) -> bool;
}

impl ShelfExpansion for NamespacedCarts {
    fn exists(&self, name: &str) -> bool {
        CartExpansion::exists(self, name)
    }
}

impl ShelfExpansion for Shelves {
    fn exists(&self, _: &str) -> bool {
        false
    }
}

impl crate::clientset::Clientset {
    pub fn everything(&self) {}
}
