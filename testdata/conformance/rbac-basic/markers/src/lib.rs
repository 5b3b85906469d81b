//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments/status,verbs=get
// +kubebuilder:rbac:groups=demo.conformance.dev,resources=widgets;widgets/status;widgets/finalizers,verbs=update;get

/// Reconcile does nothing.
pub fn reconcile() {}
