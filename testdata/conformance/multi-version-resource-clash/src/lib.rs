//! Twin of the Go types of the case. Each version's type says its names: a client of one version does not see the other.
//! +groupName=ver.conformance.dev

pub mod v1;
pub mod v1alpha1;
