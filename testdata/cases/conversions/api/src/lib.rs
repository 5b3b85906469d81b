//! Kinds of two and of three versions.

use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;

/// A place on a pallet; all versions share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub enum Slot {
    /// At the front.
    Front,
    /// At the back.
    Back,
}

/// Where something goes; all versions share it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Address {
    /// A street.
    #[serde(default)]
    pub street: String,
}
