//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:path=/validate-demo-conformance-dev-v1-widget,mutating=false,failurePolicy=fail,sideEffects=None,groups=demo.conformance.dev,resources=widgets,verbs=create;update,versions=v1,name=vwidget.conformance.dev,admissionReviewVersions=v1

/// Serve does nothing.
pub fn serve() {}
