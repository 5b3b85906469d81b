//! The error of a look-up by resource.

use kube::core::GroupVersionResource;

/// A package has no informer of a resource: the error of the generated `for_resource`.
///
/// ```
/// use kubesmith_runtime::informer::UnknownResource;
/// use kubesmith_runtime::kube::core::GroupVersionResource;
///
/// let pods = GroupVersionResource::gvr("", "v1", "pods");
/// assert_eq!(UnknownResource::new(&pods).to_string(), "no informer for pods in v1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no informer for {} in {}", .resource.resource, group_version(.resource))]
pub struct UnknownResource {
    /// The requested resource.
    pub resource: GroupVersionResource,
}

impl UnknownResource {
    /// Makes the error for a resource.
    #[must_use]
    pub fn new(resource: &GroupVersionResource) -> Self {
        Self { resource: resource.clone() }
    }
}

fn group_version(resource: &GroupVersionResource) -> String {
    let (group, version) = (&resource.group, &resource.version);
    if group.is_empty() { version.clone() } else { format!("{group}/{version}") }
}
