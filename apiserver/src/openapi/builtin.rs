//! The schemas of built-in kinds: texts and members are those of the API's own documents, as in `k8s-openapi`; merge
//! rules and members that are always written come from the table of types.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use k8s_openapi::api::{
    admissionregistration, apps, authentication, authorization, autoscaling, batch, certificates,
    coordination, core, discovery, events, flowcontrol, networking, node, policy, rbac, scheduling, storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::registry::ResourceDef;
use crate::types::{self, Field, Merge, Shape, Type};

/// All definitions that a built-in kind may need, by name.
static DEFINITIONS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let mut generator = generator();
    for kind in kinds() {
        (kind.describe)(&mut generator);
    }
    describe::<autoscaling::v1::Scale>(&mut generator);
    describe::<meta::v1::DeleteOptions>(&mut generator);
    describe::<meta::v1::ListMeta>(&mut generator);
    describe::<meta::v1::Status>(&mut generator);
    let definitions = generator.take_definitions(true);
    definitions.into_iter().map(|(name, schema)| (name.clone(), finished(&name, schema))).collect()
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
        crate::crd::GROUP,
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

/// Lists the kinds of which the program has types.
fn kinds() -> impl Iterator<Item = &'static Described> {
    KINDS.iter().chain(SINCE_1_34).chain(SINCE_1_36)
}

/// The definition of scales.
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// The definitions that operations refer to beside those of their resources.
pub(super) fn shared(has_scale: bool) -> BTreeMap<String, Value> {
    let meta = ["DeleteOptions", "ListMeta", "Status"]
        .map(|kind| format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"));
    closure(meta.into_iter().chain(has_scale.then(|| SCALE.to_owned())))
}

/// Returns the name of a built-in kind's definition.
pub(super) fn name(def: &ResourceDef) -> String {
    let by_rule = || {
        let group = def.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
        format!("io.k8s.api.{group}.{}.{}", def.version, def.kind)
    };
    described_as(def).map_or_else(by_rule, |kind| (kind.name)().into_owned())
}

fn described_as(def: &ResourceDef) -> Option<&'static Described> {
    kinds().find(|kind| kind.group == def.group && kind.version == def.version && kind.kind == def.kind)
}

/// Returns definitions with all that they refer to.
fn closure(roots: impl Iterator<Item = String>) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    let mut open: Vec<String> = roots.collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        if let Some(schema) = DEFINITIONS.get(&name) {
            collect_references(schema, &mut open);
            out.insert(name, schema.clone());
        }
    }
    out
}

/// Returns the definitions of a built-in resource and of all that it refers to, by name.
pub(super) fn definitions(def: &ResourceDef) -> BTreeMap<String, Value> {
    let root = name(def);
    let mut out = closure(std::iter::once(root.clone()));
    out.entry(root.clone()).or_insert_with(|| json!({"type": "object"}));
    out.insert(format!("{root}List"), list_of(def, &root));
    if let Some(schema) = out.get_mut(&root) {
        schema[super::GROUP_VERSION_KIND] = json!([super::gvk(def)]);
        // In the API's own documents, metadata is not required.
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name != "metadata");
        }
    }
    out
}

fn list_of(def: &ResourceDef, item: &str) -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    let reference = |name: &str| json!({"default": {}, "allOf": [{"$ref": format!("{PREFIX}{name}")}]});
    let gvk = json!({"group": def.group, "version": def.version, "kind": def.list_kind});
    json!({
        "description": format!("{} is a list of {}.", def.list_kind, def.kind),
        "type": "object", "required": ["items"], super::GROUP_VERSION_KIND: [gvk],
        "properties": {
            "apiVersion": text("APIVersion defines the versioned schema of this representation of an object."),
            "kind": text("Kind is a string value representing the REST resource this object represents."),
            "metadata": reference("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"),
            "items": {"type": "array", "items": reference(item)},
        },
    })
}

const PREFIX: &str = "#/components/schemas/";

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

/// Returns the message that a definition describes; `None` for scalars and for types that the table lacks.
fn message(name: &str) -> Option<&'static Type> {
    if let Some(name) = name.strip_prefix("io.k8s.apimachinery.pkg.apis.meta.v1.") {
        return types::find(&format!("meta.{name}"));
    }
    match name.strip_prefix("io.k8s.api.")?.split('.').collect::<Vec<_>>().as_slice() {
        [group, "v1", kind] => types::find(&format!("{group}.{kind}")),
        [group, version, kind] => types::find(&format!("{group}{version}.{kind}")),
        _ => None,
    }
}

/// Returns a definition as kube-apiserver writes it.
fn finished(name: &str, schema: Value) -> Value {
    let mut schema = finished_value(schema);
    if let Some(scalar) = int_or_string(&schema) {
        return scalar;
    }
    let Some(of) = message(name) else { return schema };
    if of.atomic {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    for (name, property) in schema["properties"].as_object_mut().into_iter().flatten() {
        if let Some(field) = of.members.get(name.as_str()) {
            annotate(property, field);
        }
    }
    schema
}

/// Returns the schema of quantities, and of numbers that may be names.
fn int_or_string(schema: &Value) -> Option<Value> {
    if schema["x-kubernetes-int-or-string"] != true {
        return None;
    }
    let of = |other: &str| json!([{"type": other}, {"type": if other == "integer" { "string" } else { "number" }}]);
    let amount = schema["description"].as_str().is_some_and(|text| text.starts_with("Quantity"));
    Some(match amount {
        true => json!({"description": schema["description"], "oneOf": of("string")}),
        false => {
            json!({"description": schema["description"], "format": "int-or-string", "oneOf": of("integer")})
        }
    })
}

/// Elements of lists are never null: their default wraps the reference.
fn finished_value(schema: Value) -> Value {
    match schema {
        Value::Object(map) => {
            let member = |(key, value): (String, Value)| {
                let element = key == "items" && value.get("$ref").is_some();
                let value =
                    if element { json!({"allOf": [value], "default": {}}) } else { finished_value(value) };
                (key, value)
            };
            Value::Object(map.into_iter().map(member).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(finished_value).collect()),
        other => other,
    }
}

/// Adds to a member the facts from the table of types.
fn annotate(property: &mut Value, field: &Field) {
    if field.always && !field.optional && field.shape == Shape::One {
        property["default"] = match field.of {
            "string" => json!(""),
            "bool" => json!(false),
            "int32" | "int64" => json!(0),
            name if types::find(name).is_some() => json!({}),
            _ => Value::Null,
        };
        if property["default"].is_null()
            && let Some(property) = property.as_object_mut()
        {
            property.remove("default");
        }
    }
    if let Some(default) = field.default.filter(|d| !d.is_empty()) {
        property["default"] = json!(default);
    }
    match (field.shape, field.merge) {
        (Shape::List, Merge::Keys(keys)) => {
            property["x-kubernetes-list-type"] = json!("map");
            property["x-kubernetes-list-map-keys"] = keys.split(',').collect();
        }
        (Shape::List, Merge::Set) => property["x-kubernetes-list-type"] = json!("set"),
        (Shape::List, _) => property["x-kubernetes-list-type"] = json!("atomic"),
        (_, Merge::Atomic) => property["x-kubernetes-map-type"] = json!("atomic"),
        (_, Merge::Granular) => property["x-kubernetes-map-type"] = json!("granular"),
        _ => {}
    }
    if let Some(key) = field.patch.key {
        property["x-kubernetes-patch-merge-key"] = json!(key);
    }
    let patch = field.patch;
    let strategies = [(patch.merge, "merge"), (patch.retain_keys, "retainKeys"), (patch.replace, "replace")];
    let given: Vec<&str> = strategies.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
    if !given.is_empty() {
        property["x-kubernetes-patch-strategy"] = json!(given.join(","));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_of_every_built_in_kind_has_all_its_references() {
        for kind in crate::builtin::all() {
            let definitions = definitions(&kind.def());
            assert!(!definitions.is_empty(), "{kind:?}");
            let mut references = Vec::new();
            definitions.values().for_each(|schema| collect_references(schema, &mut references));
            for name in references {
                let list_metadata = name.ends_with("meta.v1.ListMeta");
                assert!(list_metadata || definitions.contains_key(&name), "{kind:?}: {name}");
            }
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
            let Some(of) = message(name) else { continue };
            for member in of.members.keys() {
                assert!(schema["properties"].get(*member).is_some(), "{name}.{member}");
            }
        }
    }
}
