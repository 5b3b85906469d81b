//! Twin of the Go package of the case, with its markers.

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,roleName=reader
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=update,roleName=writer
// +kubebuilder:rbac:groups="",namespace=infra,resources=secrets,verbs=get,roleName=infra-secrets
// +kubebuilder:rbac:groups="",namespace=infra,resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=get

/// Reconcile does nothing.
pub fn reconcile() {}
