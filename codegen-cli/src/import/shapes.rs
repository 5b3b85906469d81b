//! Recognises Kubernetes' own types by their structure: descriptions may be those of another release.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::facts::facts;
use crate::known;
use crate::schema::Schema;

/// The most bytes that descriptions may add to an attribute; beyond that a struct is easier to read.
const LONGEST_PATCH: usize = 4096;

/// The module of `ObjectMeta` and its neighbours.
const META: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1";
/// The module of containers and their neighbours.
const CORE: &str = "k8s_openapi::api::core::v1";

/// Types that resources often use.
const NAMES: &[(&str, &[&str])] = &[
    (META, &["Condition", "LabelSelector", "LabelSelectorRequirement", "OwnerReference", "ListMeta"]),
    (
        CORE,
        &[
            "Affinity",
            "ConfigMapEnvSource",
            "ConfigMapKeySelector",
            "ConfigMapVolumeSource",
            "Container",
            "ContainerPort",
            "EmptyDirVolumeSource",
            "EnvFromSource",
            "EnvVar",
            "EnvVarSource",
            "EphemeralVolumeSource",
            "ExecAction",
            "HTTPGetAction",
            "HTTPHeader",
            "HostAlias",
            "KeyToPath",
            "Lifecycle",
            "LifecycleHandler",
            "LocalObjectReference",
            "NodeAffinity",
            "NodeSelector",
            "NodeSelectorRequirement",
            "NodeSelectorTerm",
            "ObjectFieldSelector",
            "ObjectReference",
            "PersistentVolumeClaimSpec",
            "PersistentVolumeClaimTemplate",
            "PodAffinity",
            "PodAffinityTerm",
            "PodAntiAffinity",
            "PodDNSConfig",
            "PodSecurityContext",
            "PodSpec",
            "PodTemplateSpec",
            "PreferredSchedulingTerm",
            "Probe",
            "ProjectedVolumeSource",
            "ResourceClaim",
            "ResourceFieldSelector",
            "ResourceRequirements",
            "SeccompProfile",
            "SecretEnvSource",
            "SecretKeySelector",
            "SecretReference",
            "SecretVolumeSource",
            "SecurityContext",
            "ServicePort",
            "Sysctl",
            "TCPSocketAction",
            "Toleration",
            "TopologySpreadConstraint",
            "TypedLocalObjectReference",
            "TypedObjectReference",
            "Volume",
            "VolumeDevice",
            "VolumeMount",
            "VolumeResourceRequirements",
            "WeightedPodAffinityTerm",
        ],
    ),
    ("k8s_openapi::api::batch::v1", &["JobSpec", "JobTemplateSpec"]),
    ("k8s_openapi::api::rbac::v1", &["PolicyRule", "RoleRef", "Subject"]),
    (
        "k8s_openapi::api::networking::v1",
        &["IngressSpec", "NetworkPolicySpec", "NetworkPolicyPort", "NetworkPolicyPeer"],
    ),
    ("k8s_openapi::api::policy::v1", &["PodDisruptionBudgetSpec"]),
    ("k8s_openapi::api::autoscaling::v2", &["HorizontalPodAutoscalerBehavior", "MetricSpec"]),
];

/// A type with its schema, and the schema without descriptions.
struct Shape {
    path: String,
    schema: Schema,
    bare: Schema,
}

/// Types by the names of their properties.
static SHAPES: LazyLock<HashMap<Vec<String>, Vec<Shape>>> = LazyLock::new(|| {
    let mut out: HashMap<Vec<String>, Vec<Shape>> = HashMap::new();
    for (module, names) in NAMES {
        for name in *names {
            let path = format!("{module}::{name}");
            let Some(schema) = known::schema(&path) else { continue };
            // A type with few fields and no map type may be unrelated.
            if schema.map_type.is_none() && schema.properties.len() < 3 {
                continue;
            }
            let bare = without_descriptions(&schema);
            out.entry(names_of(&schema)).or_default().push(Shape { path, schema, bare });
        }
    }
    out
});

/// The type with this structure and its schema; among several, the one with the nearest descriptions.
pub(super) fn recognise(schema: &Schema) -> Option<(&'static str, &'static Schema)> {
    let shapes = SHAPES.get(&names_of(schema))?;
    let own = Schema { default: None, example: None, nullable: false, ..schema.clone() };
    let bare = without_descriptions(&own);
    let candidates = shapes.iter().filter(|shape| shape.bare == bare).filter_map(|shape| {
        let wanted = Schema {
            description: own.description.clone().or(shape.schema.description.clone()),
            ..own.clone()
        };
        let length = facts(&shape.schema, &wanted)?.to_value().to_string().len();
        (length <= LONGEST_PATCH).then_some((length, shape))
    });
    let (_, nearest) = candidates.min_by_key(|(length, _)| *length)?;
    Some((nearest.path.as_str(), &nearest.schema))
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.properties.keys().cloned().collect()
}

fn without_descriptions(schema: &Schema) -> Schema {
    let mut out = schema.clone();
    out.walk_mut(&mut |schema| schema.description = None);
    out
}
