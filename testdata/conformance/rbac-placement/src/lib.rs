//! Twin of the Go package of the case: rules on items of all kinds, in several files.

mod a;
mod b;

use kubesmith_runtime::rbac;

#[rbac(groups = "doc", resources = "docs", verbs = "get")]
pub use a::Worker;
pub use b::run;
