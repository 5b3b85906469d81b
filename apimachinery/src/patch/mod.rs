//! Patches of objects, as in kube-apiserver: JSON patch, merge patch and strategic merge patch.

mod json;
mod merge;
mod strategic;

use serde_json::Value;

pub use json::{JsonPatchError, json_patch};
pub use merge::merge_patch;
pub use strategic::{Field, PatchMeta, StrategicMergeError, Strategy, strategic_merge_patch};

/// The depth limit of objects. Serializers and checks recurse, and repeated copies of an object into itself double its
/// depth.
pub const MAX_DEPTH: usize = 100;

/// Reports whether a value nests deeper than `levels`.
#[must_use]
pub fn is_deeper(value: &Value, levels: usize) -> bool {
    let deeper = |value: &Value| levels == 0 || is_deeper(value, levels - 1);
    match value {
        Value::Object(map) => map.values().any(deeper),
        Value::Array(list) => list.iter().any(deeper),
        _ => false,
    }
}
