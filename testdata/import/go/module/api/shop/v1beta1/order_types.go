// Package v1beta1 has the orders of shops.
// +kubebuilder:object:generate=true
// +groupName=shop.example.com
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OrderSpec is what a shop wants.
type OrderSpec struct {
	// Shelves is how many are filled.
	Shelves int32 `json:"shelves"`
}

// Order of a shop.
// +kubebuilder:object:root=true
type Order struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec OrderSpec `json:"spec"`
}
