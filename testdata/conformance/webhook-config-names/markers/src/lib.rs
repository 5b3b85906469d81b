//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhookconfiguration:mutating=true,name=fleet-mutators
// +kubebuilder:webhookconfiguration:mutating=false,name=fleet-validators
// +kubebuilder:webhook:path=/m,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=m.fleet.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/v,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=v.fleet.conformance.dev,admissionReviewVersions=v1

/// Serve does nothing.
pub fn serve() {}
