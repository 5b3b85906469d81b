//! What listers of carts can do beside the usual: written by hand, and taken in by the generated lister.

use kubesmith_runtime::labels::Selector;

impl super::CartLister {
    /// How many carts there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.inner.list(&Selector::everything()).len()
    }
}
