//! Emits the apply configurations of `meta/v1` that packages share through the runtime.

use super::place::Place;
use super::{ApplyTypes, Home, Key, builtin};
use crate::emit::rust::render_file;

/// The shared types, sorted by name. A package has its own configuration of any other built-in type.
const SHARED: [&str; 5] = [
    "io.k8s.apimachinery.pkg.apis.meta.v1.Condition",
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
];

/// The module of the group of these types, and that of their version.
pub(super) const MODULES: (&str, &str) = ("meta", "v1");

/// Whether the runtime has the type's apply configuration.
pub(super) fn is_shared(key: &Key) -> bool {
    matches!(key, Key::BuiltIn(name) if SHARED.contains(&name.as_str()))
}

/// Emits the runtime's module of shared apply configurations, `runtime/src/applyconfigurations/meta/v1.rs`.
#[must_use]
pub fn shared_configurations() -> String {
    let mut types = ApplyTypes::empty("crate::applyconfigurations".to_owned(), Home::Runtime);
    for name in SHARED {
        let key = Key::BuiltIn(name.to_owned());
        let (fields, summary) = builtin::fields(name);
        let mut ty = types.of_fields(&key, fields, summary);
        ty.place = Place::of_built_in(name);
        types.types.insert(key, ty);
    }
    types.files().into_iter().map(|(_, blocks)| render_file(blocks, "k8s-openapi")).collect()
}
