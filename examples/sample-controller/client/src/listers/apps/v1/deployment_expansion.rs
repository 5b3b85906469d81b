//! What a lister of Deployments can do beside the usual: written by hand, and taken in by the generated lister.

use std::sync::Arc;

use kubesmith_runtime::controllerutil::is_controlled_by;
use kubesmith_runtime::k8s_openapi::api::apps::v1::Deployment;
use kubesmith_runtime::kube::Resource;
use kubesmith_runtime::labels::Selector;

impl super::DeploymentNamespaceLister {
    /// The Deployments whose labels the selector matches and that `owner` controls, sorted by name.
    #[must_use]
    pub fn controlled_by<K>(&self, owner: &K, selector: &Selector) -> Vec<Arc<Deployment>>
    where
        K: Resource<DynamicType = ()>,
    {
        let selected = self.inner.list(selector);
        selected.iter().filter(|deployment| is_controlled_by(&***deployment, owner)).cloned().collect()
    }
}
