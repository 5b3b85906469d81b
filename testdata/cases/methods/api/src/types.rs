//! Types of methods in a private module, which the root exports.

use serde::{Deserialize, Serialize};

/// As much of an object as a scale would tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weight {
    /// What is wanted.
    pub spec: crate::Wanted,
}
