package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
)

// OrderReconciler bakes.
type OrderReconciler struct{}

// +kubebuilder:rbac:groups=bakery.example.com,resources=orders,verbs=get;list;watch
// +kubebuilder:rbac:groups=bakery.example.com,resources=orders/status,verbs=patch

// Reconcile bakes one order.
func (r *OrderReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller.
func (r *OrderReconciler) SetupWithManager(mgr ctrl.Manager) error { return nil }

func (r *OrderReconciler) helper() {}
