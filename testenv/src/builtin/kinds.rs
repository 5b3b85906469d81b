//! The table of built-in kinds.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use serde::Deserialize as _;
use serde_json::Value;

use super::{BuiltIn, Conversion, Stage, check, defaults, events as both};
use crate::names::NameRule;
use crate::status::Cause;

fn no_default(_: &mut Value, _: Stage) {}

fn no_check(_: &Value, _: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}

/// CRDs are no part of the table of types: they are read into their type and written back.
fn definition(value: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(apiextensions::v1::CustomResourceDefinition::deserialize(value)?)
}

/// What most kinds of the core group have in common.
const fn kind(
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    short_names: &'static [&'static str],
) -> BuiltIn {
    BuiltIn {
        group: "",
        version: "v1",
        kind,
        plural,
        singular,
        short_names,
        categories: &[],
        namespaced: true,
        status: false,
        scale: false,
        generation: false,
        create_on_update: false,
        unconditional_update: true,
        returns_deleted: false,
        name_rule: NameRule::Subdomain,
        selectable: &[],
        typed: None,
        default: no_default,
        check: no_check,
        conversion: None,
    }
}

/// Every built-in kind.
pub(crate) static ALL: &[BuiltIn] = &[
    BuiltIn {
        namespaced: false,
        status: true,
        name_rule: NameRule::Label,
        selectable: &["status.phase", "name"],
        default: defaults::namespace,
        ..kind("Namespace", "namespaces", "namespace", &["ns"])
    },
    BuiltIn {
        status: true,
        generation: true,
        returns_deleted: true,
        categories: &["all"],
        selectable: &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        default: defaults::pod,
        check: check::pod,
        ..kind("Pod", "pods", "pod", &["po"])
    },
    BuiltIn {
        status: true,
        returns_deleted: true,
        categories: &["all"],
        name_rule: NameRule::Label1035,
        selectable: &["spec.clusterIP", "spec.type"],
        default: defaults::service,
        check: check::service,
        ..kind("Service", "services", "service", &["svc"])
    },
    BuiltIn {
        status: true,
        namespaced: false,
        selectable: &["spec.unschedulable"],
        ..kind("Node", "nodes", "node", &["no"])
    },
    BuiltIn { check: check::config_map, ..kind("ConfigMap", "configmaps", "configmap", &["cm"]) },
    BuiltIn {
        selectable: &["type"],
        default: defaults::secret,
        check: check::secret,
        ..kind("Secret", "secrets", "secret", &[])
    },
    BuiltIn { returns_deleted: true, ..kind("ServiceAccount", "serviceaccounts", "serviceaccount", &["sa"]) },
    kind("Endpoints", "endpoints", "endpoints", &["ep"]),
    BuiltIn {
        status: true,
        returns_deleted: true,
        default: defaults::claim,
        ..kind("PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", &["pvc"])
    },
    BuiltIn {
        create_on_update: true,
        selectable: &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        default: both::default_core,
        check: both::check_core,
        ..kind("Event", "events", "event", &["ev"])
    },
    BuiltIn {
        group: "events.k8s.io",
        create_on_update: true,
        selectable: &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "reason",
            "type",
        ],
        default: both::default_events,
        conversion: Some(Conversion {
            stored_as: "v1",
            collection: "events",
            to_stored: both::to_core,
            from_stored: both::from_core,
        }),
        ..kind("Event", "events", "event", &["ev"])
    },
    BuiltIn {
        group: "coordination.k8s.io",
        create_on_update: true,
        unconditional_update: false,
        check: check::lease,
        ..kind("Lease", "leases", "lease", &[])
    },
    BuiltIn {
        group: "apps",
        status: true,
        scale: true,
        generation: true,
        categories: &["all"],
        default: defaults::deployment,
        check: check::deployment,
        ..kind("Deployment", "deployments", "deployment", &["deploy"])
    },
    BuiltIn {
        group: "apps",
        status: true,
        scale: true,
        generation: true,
        categories: &["all"],
        selectable: &["status.replicas"],
        default: defaults::replica_set,
        check: check::workload,
        ..kind("ReplicaSet", "replicasets", "replicaset", &["rs"])
    },
    BuiltIn {
        group: "apps",
        status: true,
        scale: true,
        generation: true,
        categories: &["all"],
        default: defaults::stateful_set,
        check: check::workload,
        ..kind("StatefulSet", "statefulsets", "statefulset", &["sts"])
    },
    BuiltIn {
        group: "apps",
        status: true,
        generation: true,
        categories: &["all"],
        default: defaults::daemon_set,
        check: check::workload,
        ..kind("DaemonSet", "daemonsets", "daemonset", &["ds"])
    },
    BuiltIn {
        group: RBAC,
        name_rule: NameRule::PathSegment,
        default: defaults::role,
        ..kind("Role", "roles", "role", &[])
    },
    BuiltIn {
        group: RBAC,
        name_rule: NameRule::PathSegment,
        default: defaults::role_binding,
        check: check::role_binding,
        ..kind("RoleBinding", "rolebindings", "rolebinding", &[])
    },
    BuiltIn {
        group: RBAC,
        namespaced: false,
        name_rule: NameRule::PathSegment,
        default: defaults::role,
        ..kind("ClusterRole", "clusterroles", "clusterrole", &[])
    },
    BuiltIn {
        group: RBAC,
        namespaced: false,
        name_rule: NameRule::PathSegment,
        default: defaults::role_binding,
        check: check::role_binding,
        ..kind("ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding", &[])
    },
    BuiltIn {
        group: crate::crd::GROUP,
        namespaced: false,
        unconditional_update: false,
        status: true,
        generation: true,
        categories: &["api-extensions"],
        typed: Some(definition),
        default: crate::crd::default,
        check: crate::crd::check,
        ..kind("CustomResourceDefinition", crate::crd::PLURAL, "customresourcedefinition", &["crd", "crds"])
    },
];

const RBAC: &str = "rbac.authorization.k8s.io";
