//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:path=/one,mutating=false,failurePolicy=FAIL,sideEffects=none,groups=apps,resources=deployments,verbs=Create,versions=v1,name=one.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/two,mutating=false,failurePolicy=Ignore,sideEffects=noneondryrun,groups=apps,resources=daemonsets,verbs=UPDATE,versions=v1,name=two.conformance.dev,admissionReviewVersions=v1,matchPolicy=equivalent

/// Serve does nothing.
pub fn serve() {}
