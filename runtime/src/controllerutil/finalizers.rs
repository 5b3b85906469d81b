//! Finalizers: cleanups that must happen before an object is deleted.

use kube::Resource;

/// Reports whether `object` has `finalizer`.
pub fn contains_finalizer<K: Resource>(object: &K, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|other| other == finalizer)
}

/// Adds `finalizer` unless the object has it; returns whether the object changed. The object must still be written.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::controllerutil::{add_finalizer, contains_finalizer, remove_finalizer};
///
/// let mut pod = Pod::default();
/// assert!(add_finalizer(&mut pod, "example.com/disk"));
/// assert!(!add_finalizer(&mut pod, "example.com/disk"));
/// assert!(contains_finalizer(&pod, "example.com/disk"));
/// assert!(remove_finalizer(&mut pod, "example.com/disk"));
/// assert!(pod.metadata.finalizers.is_none());
/// ```
pub fn add_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    if contains_finalizer(object, finalizer) {
        return false;
    }
    object.meta_mut().finalizers.get_or_insert_default().push(finalizer.to_owned());
    true
}

/// Removes `finalizer`; returns whether the object changed. The object must still be written.
pub fn remove_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    let list = &mut object.meta_mut().finalizers;
    let Some(finalizers) = list else { return false };
    let before = finalizers.len();
    finalizers.retain(|other| other != finalizer);
    let changed = finalizers.len() != before;
    if finalizers.is_empty() {
        *list = None;
    }
    changed
}
