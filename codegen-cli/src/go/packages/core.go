package v1

import "k8s.io/apimachinery/pkg/api/resource"

// PodPhase is a label for the condition of a pod at the current time.
type PodPhase string

// Protocol defines network protocols supported for things like container ports.
type Protocol string

// PullPolicy describes a policy for if/when to pull a container image
type PullPolicy string

// ResourceName is the name identifying various resources in a ResourceList.
type ResourceName string

// ResourceList is a set of (resource name, quantity) pairs.
type ResourceList map[ResourceName]resource.Quantity

type ConditionStatus string

type DNSPolicy string

type HostPathType string

type IPFamily string

type IPFamilyPolicy string

type MountPropagationMode string

type NamespacePhase string

type NodeSelectorOperator string

type PersistentVolumeAccessMode string

type PersistentVolumeMode string

type PersistentVolumeReclaimPolicy string

type PodConditionType string

type PodFSGroupChangePolicy string

type PreemptionPolicy string

type RestartPolicy string

type SecretType string

type ServiceAffinity string

type ServiceExternalTrafficPolicy string

type ServiceInternalTrafficPolicy string

type ServiceType string

type StorageMedium string

type TaintEffect string

type TerminationMessagePolicy string

type TolerationOperator string

type TopologySpreadConstraintWhenUnsatisfiable string

type URIScheme string

type UnsatisfiableConstraintAction string
