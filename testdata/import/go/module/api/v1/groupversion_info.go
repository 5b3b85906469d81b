// Package v1 has the kinds of the bakery.
// +kubebuilder:object:generate=true
// +groupName=bakery.example.com
package v1

const (
	// Group is the name of the group.
	Group = "bakery.example.com"

	// LabelShift says which shift baked an object.
	LabelShift = Group + "/shift"

	// ConditionReady is true while loaves can be sold.
	ConditionReady string = "Ready"
)
