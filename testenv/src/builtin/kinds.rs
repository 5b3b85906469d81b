//! The table of built-in kinds.

use k8s_openapi::api::{apps, coordination, core, events, rbac};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use serde_json::Value;

use super::{BuiltIn, Conversion, Stage, check, defaults, events as both};
use crate::names::NameRule;
use crate::status::Cause;

fn typed<T: serde::Serialize + serde::de::DeserializeOwned>(
    value: Value,
) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<T>(value)?)
}

fn no_default(_: &mut Value, _: Stage) {}

fn no_check(_: &Value, _: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}

/// What most kinds of the core group have in common; `T` is the kind's type.
const fn kind<T: serde::Serialize + serde::de::DeserializeOwned>(
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
        typed: typed::<T>,
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
        ..kind::<core::v1::Namespace>("Namespace", "namespaces", "namespace", &["ns"])
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
        ..kind::<core::v1::Pod>("Pod", "pods", "pod", &["po"])
    },
    BuiltIn {
        status: true,
        returns_deleted: true,
        categories: &["all"],
        name_rule: NameRule::Label1035,
        selectable: &["spec.clusterIP", "spec.type"],
        default: defaults::service,
        check: check::service,
        ..kind::<core::v1::Service>("Service", "services", "service", &["svc"])
    },
    BuiltIn {
        status: true,
        namespaced: false,
        selectable: &["spec.unschedulable"],
        default: defaults::with_status,
        ..kind::<core::v1::Node>("Node", "nodes", "node", &["no"])
    },
    BuiltIn {
        check: check::config_map,
        ..kind::<core::v1::ConfigMap>("ConfigMap", "configmaps", "configmap", &["cm"])
    },
    BuiltIn {
        selectable: &["type"],
        default: defaults::secret,
        check: check::secret,
        ..kind::<core::v1::Secret>("Secret", "secrets", "secret", &[])
    },
    BuiltIn {
        returns_deleted: true,
        ..kind::<core::v1::ServiceAccount>("ServiceAccount", "serviceaccounts", "serviceaccount", &["sa"])
    },
    kind::<core::v1::Endpoints>("Endpoints", "endpoints", "endpoints", &["ep"]),
    BuiltIn {
        status: true,
        returns_deleted: true,
        default: defaults::claim,
        ..kind::<core::v1::PersistentVolumeClaim>(
            "PersistentVolumeClaim",
            "persistentvolumeclaims",
            "persistentvolumeclaim",
            &["pvc"],
        )
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
        ..kind::<core::v1::Event>("Event", "events", "event", &["ev"])
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
        ..kind::<events::v1::Event>("Event", "events", "event", &["ev"])
    },
    BuiltIn {
        group: "coordination.k8s.io",
        create_on_update: true,
        unconditional_update: false,
        check: check::lease,
        ..kind::<coordination::v1::Lease>("Lease", "leases", "lease", &[])
    },
    BuiltIn {
        group: "apps",
        status: true,
        scale: true,
        generation: true,
        categories: &["all"],
        default: defaults::deployment,
        check: check::deployment,
        ..kind::<apps::v1::Deployment>("Deployment", "deployments", "deployment", &["deploy"])
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
        ..kind::<apps::v1::ReplicaSet>("ReplicaSet", "replicasets", "replicaset", &["rs"])
    },
    BuiltIn {
        group: "apps",
        status: true,
        scale: true,
        generation: true,
        categories: &["all"],
        default: defaults::stateful_set,
        check: check::workload,
        ..kind::<apps::v1::StatefulSet>("StatefulSet", "statefulsets", "statefulset", &["sts"])
    },
    BuiltIn {
        group: "apps",
        status: true,
        generation: true,
        categories: &["all"],
        default: defaults::daemon_set,
        check: check::workload,
        ..kind::<apps::v1::DaemonSet>("DaemonSet", "daemonsets", "daemonset", &["ds"])
    },
    BuiltIn {
        group: RBAC,
        name_rule: NameRule::PathSegment,
        default: defaults::role,
        ..kind::<rbac::v1::Role>("Role", "roles", "role", &[])
    },
    BuiltIn {
        group: RBAC,
        name_rule: NameRule::PathSegment,
        default: defaults::role_binding,
        check: check::role_binding,
        ..kind::<rbac::v1::RoleBinding>("RoleBinding", "rolebindings", "rolebinding", &[])
    },
    BuiltIn {
        group: RBAC,
        namespaced: false,
        name_rule: NameRule::PathSegment,
        default: defaults::role,
        ..kind::<rbac::v1::ClusterRole>("ClusterRole", "clusterroles", "clusterrole", &[])
    },
    BuiltIn {
        group: RBAC,
        namespaced: false,
        name_rule: NameRule::PathSegment,
        default: defaults::role_binding,
        check: check::role_binding,
        ..kind::<rbac::v1::ClusterRoleBinding>(
            "ClusterRoleBinding",
            "clusterrolebindings",
            "clusterrolebinding",
            &[],
        )
    },
    BuiltIn {
        group: crate::crd::GROUP,
        namespaced: false,
        unconditional_update: false,
        status: true,
        generation: true,
        categories: &["api-extensions"],
        default: crate::crd::default,
        check: crate::crd::check,
        ..kind::<apiextensions::v1::CustomResourceDefinition>(
            "CustomResourceDefinition",
            crate::crd::PLURAL,
            "customresourcedefinition",
            &["crd", "crds"],
        )
    },
];

const RBAC: &str = "rbac.authorization.k8s.io";
