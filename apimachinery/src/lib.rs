//! The common parts of all Kubernetes API objects, independent of kinds. The model is Go's `k8s.io/apimachinery`.
//!
//! - [`names`]: the rules of names, label keys and label values.
//! - [`decode`]: the reader of JSON and YAML.
//! - [`errors`]: several errors as one text.
//! - [`field`]: paths of fields, and errors of fields in kube-apiserver's words.
//! - [`fieldpath`]: sets of fields, as `managedFields` has them.
//! - [`labels`] and [`fields`]: selectors.
//! - [`golang`]: Go's notation of values, which messages and YAML depend on.
//! - [`quantity`]: quantities such as `1.5Gi`.
//! - [`sharding`]: shards of lists and watches.
//! - [`yaml`]: the bytes that `sigs.k8s.io/yaml` writes, and the scalars that it reads.
//! - [`patch`] (feature `patch`): JSON patch, merge patch and strategic merge patch.
//! - [`jsonpath`] (feature `jsonpath`): the paths of printer columns.
//!
//! Objects are JSON values here. The crate depends on no kind, schema, HTTP or storage, and it does no I/O.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

pub mod decode;
pub mod errors;
pub mod field;
pub mod fieldpath;
pub mod fields;
pub mod golang;
#[cfg(feature = "jsonpath")]
pub mod jsonpath;
pub mod labels;
pub mod names;
#[cfg(feature = "patch")]
pub mod patch;
pub mod quantity;
pub mod sharding;
pub mod yaml;
