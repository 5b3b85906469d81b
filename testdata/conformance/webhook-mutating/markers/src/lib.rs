//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:path=/mutate-v1-pod,mutating=true,failurePolicy=ignore,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=mpod.conformance.dev,admissionReviewVersions=v1;v1beta1,reinvocationPolicy=IfNeeded,matchPolicy=Exact

/// Serve does nothing.
pub fn serve() {}
