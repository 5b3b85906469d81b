package v1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"bakery.example.com/operator/api/common"
)

// Crust says how long a loaf is baked.
// +kubebuilder:validation:Enum=Soft;Hard;"extra-hard"
type Crust string

const (
	// CrustSoft is baked at 190 degrees.
	CrustSoft Crust = "Soft"
	CrustHard Crust = "Hard"
)

// Phase is where an order stands. Others may be added.
type Phase string

const (
	// PhasePending waits for an oven.
	PhasePending Phase = "Pending"
	// PhaseDone can be fetched.
	PhaseDone Phase = "Done"
)

// Code is what a customer calls an order.
// +kubebuilder:validation:Pattern=`^[A-Z]{3}-[0-9]+$`
// +kubebuilder:validation:MaxLength=12
type Code string

// Price is written as a text.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=20
type Price struct {
	cents int64
}

// MarshalJSON writes "1.50".
func (p Price) MarshalJSON() ([]byte, error) { return json.Marshal("1.50") }

// UnmarshalJSON reads it.
func (p *Price) UnmarshalJSON(text []byte) error { return nil }

// OrderSpec is what is wanted.
// +kubebuilder:validation:XValidation:rule="!has(self.price) || self.loaves > 0",message="a price needs loaves"
type OrderSpec struct {
	common.Labelled `json:",inline"`

	// Loaves is how many.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Loaves int32 `json:"loaves"`

	// +optional
	Crust Crust `json:"crust,omitempty"`

	// Code of the order.
	Code *Code `json:"code,omitempty"`

	Price *Price `json:"price,omitempty"`

	// Customer pays.
	Customer common.Reference `json:"customer"`

	// Extras by their names.
	Extras map[string]Extra `json:"extras,omitempty"`

	// +listType=map
	// +listMapKey=name
	Helpers []common.Reference `json:"helpers,omitempty"`

	Type   string               `json:"type,omitempty"`
	Weight *resource.Quantity   `json:"weight,omitempty"`
	Oven   *intstr.IntOrString  `json:"oven,omitempty"`
	Until  *metav1.Time         `json:"until,omitempty"`
	Rest   *metav1.Duration     `json:"rest,omitempty"`
	Where  *metav1.LabelSelector `json:"where,omitempty"`

	// Recipe is any JSON.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Recipe json.RawMessage `json:"recipe,omitempty"`

	// +nullable
	Gift *string `json:"gift"`
}

// extra is added to loaves.
type extra struct {
	Grams int64 `json:"grams"`
}

// Extra says how much is added.
type Extra struct {
	extra `json:",inline"`

	Seeds []Seed `json:"seeds,omitempty"`
}

// Seed names a grain.
type Seed string

// Result has a name that Rust has for something else.
type Result struct {
	Message string `json:"message,omitempty"`
}

// OrderStatus is what became of it.
type OrderStatus struct {
	Phase Phase `json:"phase,omitempty"`

	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	Results []Result `json:"results,omitempty"`
}

// Order is an order of loaves.
// +genclient
// +genclient:method=Bake,verb=create,subresource=bake,input=bakery.example.com/operator/api/v1.Extra,result=bakery.example.com/operator/api/v1.Result
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=Taste,verb=get,subresource=taste,result=example.com/not/read/v1.Taste
// +genclient:skipVerbs=deleteCollection
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ord,categories=all
// +kubebuilder:printcolumn:name="Loaves",type=integer,JSONPath=`.spec.loaves`
type Order struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   OrderSpec   `json:"spec"`
	Status OrderStatus `json:"status,omitempty"`
}

// Total is how much flour is needed.
func (o *Order) Total() int64 { return 0 }
