//! Types of no generated client that belong into the scheme.

use kubesmith_runtime::k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_runtime::scheme::Scheme;

/// Adds what carts refer to.
pub fn add_to_scheme(scheme: &mut Scheme) {
    scheme.register::<ConfigMap>("ConfigMapList");
}
