//! An operator in kube-rs's manner: it hides documents. `hack/newcomer.sh` moves it as docs/from-kube-rs/migration.md says.

pub mod controller;
mod document;

pub use document::{Document, DocumentSpec, DocumentStatus};
