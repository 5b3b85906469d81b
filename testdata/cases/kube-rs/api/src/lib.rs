//! Types in kube-rs's dialect, which keep their derives.

mod folder;
mod user;
pub mod v1;
pub mod v2;

pub use folder::*;
pub use user::{User, UserSpec};
