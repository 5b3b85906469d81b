// Package common has what the kinds share.
package common

// Reference names an object.
// +structType=atomic
type Reference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Namespace of the object; default: that of the kind.
	Namespace *string `json:"namespace,omitempty"`
}

// Labelled is embedded where labels can be set.
type Labelled struct {
	// Labels that are added.
	// +mapType=atomic
	Labels map[string]string `json:"labels,omitempty"`
}
