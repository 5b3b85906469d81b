//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:resources=nodes,verbs=get
// +kubebuilder:rbac:groups=apps,verbs=list

/// Reconcile does nothing.
pub fn reconcile() {}
