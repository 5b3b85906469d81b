//! Kinds of two and of three versions.

use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;

/// Where something goes; all versions share it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Address {
    /// A street.
    #[serde(default)]
    pub street: String,
}
