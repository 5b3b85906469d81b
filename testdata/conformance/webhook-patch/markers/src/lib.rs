//! Twin of the Go package of the case, with its markers.

// +kubebuilder:webhook:path=/p,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=p.conformance.dev,admissionReviewVersions=v1,patch=`{"namespaceSelector":{"matchLabels":{"hooks":"on"}},"timeoutSeconds":7}`
// +kubebuilder:webhook:path=/q,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=q.conformance.dev,admissionReviewVersions=v1,patch=`{"objectSelector":{"matchExpressions":[{"key":"tier","operator":"In","values":["a","b"]}]},"matchConditions":[{"name":"not-kube","expression":"!object.metadata.name.startsWith('kube-')"}]}`

/// Serve does nothing.
pub fn serve() {}
