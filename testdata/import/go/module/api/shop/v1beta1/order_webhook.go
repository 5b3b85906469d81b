package v1beta1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// Default sets what is not given.
func (o *Order) Default() {}

// ConvertTo makes an order of v1.
func (o *Order) ConvertTo(hub conversion.Hub) error { return nil }

// ConvertFrom makes an order of an order of v1.
func (o *Order) ConvertFrom(hub conversion.Hub) error { return nil }
