//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:urls=/metrics;/healthz,verbs=get
// +kubebuilder:rbac:urls="/debug/*",verbs=get;post
// +kubebuilder:rbac:urls=/livez,verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

/// Reconcile does nothing.
pub fn reconcile() {}
