//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:groups="",resources=pods;services,verbs=get;list
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list
// +kubebuilder:rbac:groups=core;events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="";apps,resources=replicasets,verbs=get

/// Reconcile does nothing.
pub fn reconcile() {}
