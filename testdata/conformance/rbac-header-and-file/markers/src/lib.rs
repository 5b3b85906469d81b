//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

/// Reconcile does nothing.
pub fn reconcile() {}
