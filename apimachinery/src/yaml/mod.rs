//! Kubernetes' YAML: the bytes that `sigs.k8s.io/yaml` writes, as controller-gen and kubectl do, and the scalars that its reader
//! finds.
//!
//! Values are JSON. Both follow YAML 1.1 like goyaml, where `yes` is a boolean and `0777` is octal.
//!
//! The writer uses block style with keys in natural order. It quotes strings that a reader of YAML 1.1 would take for something
//! else, writes text with line breaks as literal blocks, and folds lines after column 80. Every string goes through one function
//! that picks a style which can represent it, so no string can end its scalar and become structure.

mod member;
mod order;
mod scalar;
mod style;
#[cfg(test)]
mod tests;
mod writer;

pub use member::{Member, MemberName, merge};
pub use scalar::{Scalar, is_plain, json_number, reads_as_other_than_string};
pub use style::is_hidden;
pub use writer::{document, to_visible_yaml, to_yaml};
