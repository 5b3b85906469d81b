//! The paths of webhooks: controller-runtime's.

use kube::core::Resource;

/// The path of conversion.
///
/// ```
/// use kubesmith_runtime::webhook::{CONVERT_PATH, Conversions, Server};
///
/// let server = Server::builder().conversions(Conversions::new()).build()?;
/// assert!(server.paths().eq([CONVERT_PATH]));
/// # Ok::<(), kubesmith_runtime::webhook::ServerError>(())
/// ```
pub const CONVERT_PATH: &str = "/convert";

/// Returns the path of a kind's defaulter: `/mutate-`, the group with dashes for dots, the version, and the kind in
/// lower case.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::webhook::mutate_path;
///
/// assert_eq!(mutate_path::<Deployment>(), "/mutate-apps-v1-deployment");
/// assert_eq!(mutate_path::<Pod>(), "/mutate--v1-pod");
/// ```
#[must_use]
pub fn mutate_path<K: Resource<DynamicType = ()>>() -> String {
    path::<K>("mutate")
}

/// Returns the path of a kind's validator: as [`mutate_path`], with `/validate-`.
///
/// ```
/// use k8s_openapi::api::networking::v1::Ingress;
/// use kubesmith_runtime::webhook::validate_path;
///
/// assert_eq!(validate_path::<Ingress>(), "/validate-networking-k8s-io-v1-ingress");
/// ```
#[must_use]
pub fn validate_path<K: Resource<DynamicType = ()>>() -> String {
    path::<K>("validate")
}

fn path<K: Resource<DynamicType = ()>>(what: &str) -> String {
    let group = K::group(&()).replace('.', "-");
    format!("/{what}-{group}-{}-{}", K::version(&()), K::kind(&()).to_lowercase())
}
