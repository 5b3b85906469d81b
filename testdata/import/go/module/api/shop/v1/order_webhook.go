package v1

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// OrderCustomValidator checks orders of shops.
type OrderCustomValidator struct{}

// ValidateCreate checks a new order.
func (v *OrderCustomValidator) ValidateCreate(ctx context.Context, o *Order) (admission.Warnings, error) {
	return nil, nil
}

// ValidateUpdate checks a changed order.
func (v *OrderCustomValidator) ValidateUpdate(ctx context.Context, old, o *Order) (admission.Warnings, error) {
	return nil, nil
}

// ValidateDelete checks an order that goes.
func (v *OrderCustomValidator) ValidateDelete(ctx context.Context, o *Order) (admission.Warnings, error) {
	return nil, nil
}

// Hub says that other versions are converted to this one.
func (o *Order) Hub() {}
