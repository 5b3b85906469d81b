//! The same names as of the client, in another place: nothing to be said.

pub trait CartExpansion {
    fn exists(&self, name: &str) -> bool;
}

impl CartExpansion for super::CartLister {
    fn exists(&self, _: &str) -> bool {
        true
    }
}
