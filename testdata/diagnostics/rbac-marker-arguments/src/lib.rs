//! +kubebuilder:rbac:groups=apps,resources=deployments

// +kubebuilder:rbac:groups=apps,resource=deployments,verbs=get
// +kubebuilder:rbac
// +kubebuilder:rbac:verbs

/// +kubebuilder:rbac:groups=apps,verbs=get
/// +kubebuilder:rbac:resources=nodes,verbs=get,namespace="Infra"
pub fn reconcile() {}
