//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=*
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=*
// +kubebuilder:rbac:groups=*,resources=*,verbs=get
// +kubebuilder:rbac:groups="*",resources="*/scale",verbs=update

/// Reconcile does nothing.
pub fn reconcile() {}
