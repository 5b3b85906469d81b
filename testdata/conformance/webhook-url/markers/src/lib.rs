//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:url="https://hooks.conformance.dev:9443/check",mutating=false,failurePolicy=Fail,sideEffects=None,groups=apps,resources=deployments,verbs=delete,versions=v1,name=remote.conformance.dev,admissionReviewVersions=v1

/// Serve does nothing.
pub fn serve() {}
