//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:path=/x,webhookVersions=v1beta1,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=x.conformance.dev,admissionReviewVersions=v1

/// Serve does nothing.
pub fn serve() {}
