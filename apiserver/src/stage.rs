//! The operation of a write.

/// The operation, on which defaults may depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Create,
    Update,
}
