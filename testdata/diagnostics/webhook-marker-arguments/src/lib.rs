// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,groups=apps,resources=deployments,verbs=create,versions=v1,name=a.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=false,failurePolicy=fail,sideEffects=Some,groups=apps,resources=deployments,verbs=create,versions=v1,name=b.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=31,groups=apps,resources=deployments,verbs=create,versions=v1,name=c.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,webhookVersions=v1beta1,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=d.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=maybe,failurePolicy=retry,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=e.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=retry,matchPolicy=all,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=f.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,patch=`{"timeoutSeconds":`,groups=apps,resources=deployments,verbs=create,versions=v1,name=g.conformance.dev,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/x,mutating=true,failurePolicy=fail,sideEffects=None,patch=`{"timeout":3}`,groups=apps,resources=deployments,verbs=create,versions=v1,name=h.conformance.dev,admissionReviewVersions=v1

pub fn serve() {}
