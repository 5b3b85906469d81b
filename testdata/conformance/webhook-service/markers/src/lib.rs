//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:path=/svc,serviceName=hook-svc,serviceNamespace=hooks,servicePort=8443,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=svc.conformance.dev,admissionReviewVersions=v1,webhookVersions=v1

/// Serve does nothing.
pub fn serve() {}
