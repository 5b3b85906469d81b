//! The definitions of built-in kinds and of the types that discovery, options and subresources have.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::api::{
    admissionregistration, apps, authentication, authorization, autoscaling, batch, certificates,
    coordination, core, discovery, events, flowcontrol, networking, node, policy, rbac, scheduling, storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta;
use k8s_openapi::apimachinery::pkg::version::Info;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration;
use kubesmith_apiextensions::openapi;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{META, PREFIX, gvk_of, schemas};
use crate::registry::{self, ResourceDef};

/// All definitions that a built-in kind may need, by name.
static DEFINITIONS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let mut generator = generator();
    for kind in kinds() {
        (kind.describe)(&mut generator);
    }
    for kind in OTHERS {
        (kind.describe)(&mut generator);
    }
    describe::<meta::v1::ListMeta>(&mut generator);
    describe::<meta::v1::Patch>(&mut generator);
    describe::<meta::v1::WatchEvent<()>>(&mut generator);
    describe::<Info>(&mut generator);
    let found = generator.take_definitions(true);
    let mut definitions: BTreeMap<String, Value> =
        found.into_iter().map(|(name, schema)| (name.clone(), schemas::finished(&name, schema))).collect();
    if let Some(schema) = definitions.get_mut(&format!("{META}.WatchEvent")) {
        schemas::describe_object(schema);
    }
    // `generate` writes the same ones.
    definitions.extend(openapi::metadata_definitions());
    for kind in OTHERS {
        if let Some(schema) = definitions.get_mut((kind.name)().as_ref()) {
            schema[super::GROUP_VERSION_KIND] = json!([gvk_of(kind.group, kind.version, kind.kind)]);
        }
    }
    let type_meta = definitions.get(&format!("{META}.Status")).map(|status| status["properties"].clone());
    let type_meta = type_meta.unwrap_or_default();
    for def in crate::builtin::all().map(registry::of_built_in) {
        let object = name(&def);
        let list = schemas::list_of(&def, &object, &type_meta);
        definitions.insert(format!("{object}List"), list);
        let schema = definitions.entry(object).or_insert_with(|| json!({"type": "object"}));
        schema[super::GROUP_VERSION_KIND] = json!([super::gvk(&def)]);
    }
    definitions
});

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::openapi3();
    SchemaGenerator::new(settings)
}

/// A kind and its schema's name.
struct Described {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    describe: fn(&mut SchemaGenerator),
    name: fn() -> std::borrow::Cow<'static, str>,
}

const fn described<T: JsonSchema>(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
) -> Described {
    Described { group, version, kind, describe: describe::<T>, name: T::schema_name }
}

fn describe<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

static KINDS: &[Described] = &[
    described::<authentication::v1::SelfSubjectReview>("authentication.k8s.io", "v1", "SelfSubjectReview"),
    described::<authentication::v1::TokenReview>("authentication.k8s.io", "v1", "TokenReview"),
    described::<authorization::v1::LocalSubjectAccessReview>(
        "authorization.k8s.io",
        "v1",
        "LocalSubjectAccessReview",
    ),
    described::<authorization::v1::SelfSubjectAccessReview>(
        "authorization.k8s.io",
        "v1",
        "SelfSubjectAccessReview",
    ),
    described::<authorization::v1::SelfSubjectRulesReview>(
        "authorization.k8s.io",
        "v1",
        "SelfSubjectRulesReview",
    ),
    described::<authorization::v1::SubjectAccessReview>("authorization.k8s.io", "v1", "SubjectAccessReview"),
    described::<core::v1::Binding>("", "v1", "Binding"),
    described::<core::v1::ComponentStatus>("", "v1", "ComponentStatus"),
    described::<core::v1::ConfigMap>("", "v1", "ConfigMap"),
    described::<core::v1::Endpoints>("", "v1", "Endpoints"),
    described::<core::v1::Event>("", "v1", "Event"),
    described::<core::v1::LimitRange>("", "v1", "LimitRange"),
    described::<core::v1::Namespace>("", "v1", "Namespace"),
    described::<core::v1::Node>("", "v1", "Node"),
    described::<core::v1::PersistentVolume>("", "v1", "PersistentVolume"),
    described::<core::v1::PersistentVolumeClaim>("", "v1", "PersistentVolumeClaim"),
    described::<core::v1::Pod>("", "v1", "Pod"),
    described::<core::v1::PodTemplate>("", "v1", "PodTemplate"),
    described::<core::v1::ReplicationController>("", "v1", "ReplicationController"),
    described::<core::v1::ResourceQuota>("", "v1", "ResourceQuota"),
    described::<core::v1::Secret>("", "v1", "Secret"),
    described::<core::v1::Service>("", "v1", "Service"),
    described::<core::v1::ServiceAccount>("", "v1", "ServiceAccount"),
    described::<admissionregistration::v1::ValidatingAdmissionPolicy>(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
    ),
    described::<admissionregistration::v1::ValidatingAdmissionPolicyBinding>(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicyBinding",
    ),
    described::<apiregistration::v1::APIService>("apiregistration.k8s.io", "v1", "APIService"),
    described::<flowcontrol::v1::FlowSchema>("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"),
    described::<flowcontrol::v1::PriorityLevelConfiguration>(
        "flowcontrol.apiserver.k8s.io",
        "v1",
        "PriorityLevelConfiguration",
    ),
    described::<networking::v1::IPAddress>("networking.k8s.io", "v1", "IPAddress"),
    described::<networking::v1::ServiceCIDR>("networking.k8s.io", "v1", "ServiceCIDR"),
    described::<storage::v1::CSIStorageCapacity>("storage.k8s.io", "v1", "CSIStorageCapacity"),
    described::<admissionregistration::v1::MutatingWebhookConfiguration>(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
    ),
    described::<admissionregistration::v1::ValidatingWebhookConfiguration>(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
    ),
    described::<apiextensions::v1::CustomResourceDefinition>(
        crate::groups::API_EXTENSIONS,
        "v1",
        "CustomResourceDefinition",
    ),
    described::<apps::v1::ControllerRevision>("apps", "v1", "ControllerRevision"),
    described::<apps::v1::DaemonSet>("apps", "v1", "DaemonSet"),
    described::<apps::v1::Deployment>("apps", "v1", "Deployment"),
    described::<apps::v1::ReplicaSet>("apps", "v1", "ReplicaSet"),
    described::<apps::v1::StatefulSet>("apps", "v1", "StatefulSet"),
    described::<autoscaling::v1::HorizontalPodAutoscaler>("autoscaling", "v1", "HorizontalPodAutoscaler"),
    described::<autoscaling::v2::HorizontalPodAutoscaler>("autoscaling", "v2", "HorizontalPodAutoscaler"),
    described::<batch::v1::CronJob>("batch", "v1", "CronJob"),
    described::<batch::v1::Job>("batch", "v1", "Job"),
    described::<coordination::v1::Lease>("coordination.k8s.io", "v1", "Lease"),
    described::<discovery::v1::EndpointSlice>("discovery.k8s.io", "v1", "EndpointSlice"),
    described::<events::v1::Event>("events.k8s.io", "v1", "Event"),
    described::<networking::v1::Ingress>("networking.k8s.io", "v1", "Ingress"),
    described::<networking::v1::IngressClass>("networking.k8s.io", "v1", "IngressClass"),
    described::<networking::v1::NetworkPolicy>("networking.k8s.io", "v1", "NetworkPolicy"),
    described::<node::v1::RuntimeClass>("node.k8s.io", "v1", "RuntimeClass"),
    described::<policy::v1::PodDisruptionBudget>("policy", "v1", "PodDisruptionBudget"),
    described::<rbac::v1::ClusterRole>("rbac.authorization.k8s.io", "v1", "ClusterRole"),
    described::<rbac::v1::ClusterRoleBinding>("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
    described::<rbac::v1::Role>("rbac.authorization.k8s.io", "v1", "Role"),
    described::<rbac::v1::RoleBinding>("rbac.authorization.k8s.io", "v1", "RoleBinding"),
    described::<scheduling::v1::PriorityClass>("scheduling.k8s.io", "v1", "PriorityClass"),
    described::<certificates::v1::CertificateSigningRequest>(
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
    ),
    described::<storage::v1::CSIDriver>("storage.k8s.io", "v1", "CSIDriver"),
    described::<storage::v1::CSINode>("storage.k8s.io", "v1", "CSINode"),
    described::<storage::v1::StorageClass>("storage.k8s.io", "v1", "StorageClass"),
    described::<storage::v1::VolumeAttachment>("storage.k8s.io", "v1", "VolumeAttachment"),
];

// A program chooses the version of Kubernetes whose types it has. Kinds that this version lacks are described as any object.
k8s_openapi::k8s_if_ge_1_34! {
    static SINCE_1_34: &[Described] = &[
        described::<k8s_openapi::api::resource::v1::DeviceClass>("resource.k8s.io", "v1", "DeviceClass"),
        described::<k8s_openapi::api::resource::v1::ResourceClaim>("resource.k8s.io", "v1", "ResourceClaim"),
        described::<k8s_openapi::api::resource::v1::ResourceClaimTemplate>("resource.k8s.io", "v1", "ResourceClaimTemplate"),
        described::<k8s_openapi::api::resource::v1::ResourceSlice>("resource.k8s.io", "v1", "ResourceSlice"),
        described::<storage::v1::VolumeAttributesClass>("storage.k8s.io", "v1", "VolumeAttributesClass"),
    ];
}
k8s_openapi::k8s_if_le_1_33! {
    static SINCE_1_34: &[Described] = &[];
}
k8s_openapi::k8s_if_ge_1_36! {
    static SINCE_1_36: &[Described] = &[
        described::<admissionregistration::v1::MutatingAdmissionPolicy>(
            "admissionregistration.k8s.io",
            "v1",
            "MutatingAdmissionPolicy",
        ),
        described::<admissionregistration::v1::MutatingAdmissionPolicyBinding>(
            "admissionregistration.k8s.io",
            "v1",
            "MutatingAdmissionPolicyBinding",
        ),
    ];
}
k8s_openapi::k8s_if_le_1_35! {
    static SINCE_1_36: &[Described] = &[];
}

/// Types of the bodies of subresources, of discovery and of errors.
static OTHERS: &[Described] = &[
    described::<authentication::v1::TokenRequest>("authentication.k8s.io", "v1", "TokenRequest"),
    described::<autoscaling::v1::Scale>("autoscaling", "v1", "Scale"),
    described::<policy::v1::Eviction>("policy", "v1", "Eviction"),
    described::<meta::v1::APIGroup>("", "v1", "APIGroup"),
    described::<meta::v1::APIGroupList>("", "v1", "APIGroupList"),
    described::<meta::v1::APIResourceList>("", "v1", "APIResourceList"),
    described::<meta::v1::APIVersions>("", "v1", "APIVersions"),
    described::<meta::v1::DeleteOptions>("", "v1", "DeleteOptions"),
    described::<meta::v1::Status>("", "v1", "Status"),
];

/// Lists the kinds of which the program has types.
fn kinds() -> impl Iterator<Item = &'static Described> {
    KINDS.iter().chain(SINCE_1_34).chain(SINCE_1_36)
}

/// The definition of scales.
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// Returns the name of a built-in kind's definition.
pub(super) fn name(def: &ResourceDef) -> String {
    name_of(&def.group, &def.version, &def.kind)
}

/// Returns the name of the definition of a kind.
pub(super) fn name_of(group: &str, version: &str, kind: &str) -> String {
    let by_rule = || {
        let group = group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
        format!("io.k8s.api.{group}.{version}.{kind}")
    };
    let known = kinds()
        .chain(OTHERS)
        .find(|known| known.group == group && known.version == version && known.kind == kind);
    known.map_or_else(by_rule, |known| (known.name)().into_owned())
}

/// Returns definitions with all that they refer to. Options and events of watches have kinds in these versions.
pub(super) fn closure(
    roots: impl Iterator<Item = String>,
    versions: &[(&str, &str)],
) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    let mut open: Vec<String> = roots.collect();
    while let Some(name) = open.pop() {
        if out.contains_key(&name) {
            continue;
        }
        let mut schema = DEFINITIONS.get(&name).cloned().unwrap_or_else(|| json!({"type": "object"}));
        collect_references(&schema, &mut open);
        if let Some(kind) = EVERYWHERE.into_iter().find(|kind| name == format!("{META}.{kind}")) {
            let kinds = versions.iter().map(|(group, version)| gvk_of(group, version, kind));
            schema[super::GROUP_VERSION_KIND] = kinds.collect();
        }
        out.insert(name, schema);
    }
    out
}

/// The groups in the schemes of kube-apiserver 1.36 and its parts, and their versions, served or not.
const SCHEMES: &[(&str, &str)] = &[
    ("", "v1"),
    ("admission.k8s.io", "v1 v1beta1"),
    ("admissionregistration.k8s.io", "v1 v1alpha1 v1beta1"),
    ("apiextensions.k8s.io", "v1 v1beta1"),
    ("apiregistration.k8s.io", "v1 v1beta1"),
    ("apps", "v1 v1beta1 v1beta2"),
    ("authentication.k8s.io", "v1 v1alpha1 v1beta1"),
    ("authorization.k8s.io", "v1 v1beta1"),
    ("autoscaling", "v1 v2"),
    ("batch", "v1 v1beta1"),
    ("certificates.k8s.io", "v1 v1alpha1 v1beta1"),
    ("coordination.k8s.io", "v1 v1alpha2 v1beta1"),
    ("discovery.k8s.io", "v1 v1beta1"),
    ("events.k8s.io", "v1 v1beta1"),
    ("extensions", "v1beta1"),
    ("flowcontrol.apiserver.k8s.io", "v1 v1beta1 v1beta2 v1beta3"),
    ("imagepolicy.k8s.io", "v1alpha1"),
    ("internal.apiserver.k8s.io", "v1alpha1"),
    ("networking.k8s.io", "v1 v1beta1"),
    ("node.k8s.io", "v1 v1alpha1 v1beta1"),
    ("policy", "v1 v1beta1"),
    ("rbac.authorization.k8s.io", "v1 v1alpha1 v1beta1"),
    ("resource.k8s.io", "v1 v1alpha3 v1beta1 v1beta2"),
    ("scheduling.k8s.io", "v1 v1alpha2 v1beta1"),
    ("storage.k8s.io", "v1 v1alpha1 v1beta1"),
    ("storagemigration.k8s.io", "v1beta1"),
];

/// Groups that client-go's scheme lacks, which apiextensions uses for the documents of custom resources.
const SERVER_ONLY: [&str; 4] =
    ["admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"];

/// Returns the versions in the schemes of kube-apiserver, or in that of client-go.
pub(super) fn versions(client: bool) -> Vec<(&'static str, &'static str)> {
    let groups = SCHEMES.iter().filter(|(group, _)| !client || !SERVER_ONLY.contains(group));
    groups.flat_map(|(group, versions)| versions.split(' ').map(move |version| (*group, version))).collect()
}

/// The types that are a kind in every version.
const EVERYWHERE: [&str; 2] = ["DeleteOptions", "WatchEvent"];

fn collect_references(schema: &Value, out: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_str().and_then(|text| text.strip_prefix(PREFIX)) {
                    Some(name) if key == "$ref" => out.push(name.to_owned()),
                    _ => collect_references(value, out),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect_references(value, out)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_every_definition_are_definitions() {
        let mut references = Vec::new();
        DEFINITIONS.values().for_each(|schema| collect_references(schema, &mut references));
        assert!(references.len() > 500);
        for name in references {
            assert!(DEFINITIONS.contains_key(&name), "{name}");
        }
    }

    #[test]
    fn schema_members_have_their_merge_strategy() {
        let spec = &DEFINITIONS["io.k8s.api.core.v1.PodSpec"]["properties"];
        let volumes = &spec["volumes"];
        assert_eq!(volumes["x-kubernetes-patch-strategy"], "merge,retainKeys");
        assert_eq!(volumes["x-kubernetes-patch-merge-key"], "name");
        assert_eq!(volumes["x-kubernetes-list-map-keys"], json!(["name"]));
        assert_eq!(spec["tolerations"]["x-kubernetes-list-type"], "atomic");
        let selector = &DEFINITIONS["io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"];
        assert_eq!(selector["x-kubernetes-map-type"], "atomic");
        let security = &spec["securityContext"];
        assert_eq!(
            security["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.api.core.v1.PodSecurityContext"
        );
        assert!(security.get("$ref").is_none() && security["description"].is_string());
    }

    #[test]
    fn members_of_the_table_are_members_of_the_schemas() {
        for (name, schema) in DEFINITIONS.iter() {
            let Some(of) = schemas::message(name) else { continue };
            // These fields accept any type.
            if name.contains(".JSON") && schema.get("properties").is_none() {
                continue;
            }
            for member in of.members.keys() {
                assert!(schema["properties"].get(*member).is_some(), "{name}.{member}");
            }
        }
    }
}
