//! A bracket is missing.

impl super::NamespacedCarts {
    pub fn count(&self) -> usize {
        0
}
