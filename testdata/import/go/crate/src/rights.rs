//! Rules of roles and webhooks of the Go module. Move each to the function that needs it.

// +kubebuilder:webhook:path=/mutate-bakery-example-com-v1-order,mutating=true,failurePolicy=fail,sideEffects=None,groups=bakery.example.com,resources=orders,verbs=create;update,versions=v1,name=morder.bakery.example.com,admissionReviewVersions=v1

use kubesmith_runtime::rbac;

/// The rights of the controllers.
#[rbac(
    groups = "bakery.example.com",
    resources = "orders",
    verbs("get", "list", "watch")
)]
#[rbac(
    groups = "bakery.example.com",
    resources = "orders/status",
    verbs = "patch"
)]
#[derive(Clone, Copy, Debug)]
pub struct Controllers;
