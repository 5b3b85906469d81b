//! Kinds of the core group other than workloads, and events of both groups.

use super::kind;
use crate::builtin::{BuiltIn, Conversion, check, defaults, events as both};
use crate::names::NameRule;

pub(super) static KINDS: &[BuiltIn] = &[
    BuiltIn {
        namespaced: false,
        status: true,
        name_rule: NameRule::Label,
        selectable: &["status.phase"],
        default: defaults::namespace,
        prepare: defaults::hold_namespace,
        check: check::namespace,
        check_status: check::namespace_status,
        ..kind("", "Namespace", "namespaces", "namespace", &["ns"])
    },
    BuiltIn {
        status: true,
        namespaced: false,
        selectable: &["spec.unschedulable"],
        default: defaults::node,
        check: check::node,
        check_status: check::node_status,
        ..kind("", "Node", "nodes", "node", &["no"])
    },
    BuiltIn { check: check::config_map, ..kind("", "ConfigMap", "configmaps", "configmap", &["cm"]) },
    BuiltIn {
        selectable: &["type"],
        default: defaults::secret,
        check: check::secret,
        ..kind("", "Secret", "secrets", "secret", &[])
    },
    BuiltIn {
        returns_deleted: true,
        ..kind("", "ServiceAccount", "serviceaccounts", "serviceaccount", &["sa"])
    },
    BuiltIn {
        create_on_update: true,
        default: defaults::limit_range,
        check: check::limit_range,
        ..kind("", "LimitRange", "limitranges", "limitrange", &["limits"])
    },
    BuiltIn {
        status: true,
        returns_deleted: true,
        check: check::quota,
        check_status: check::quota_status,
        ..kind("", "ResourceQuota", "resourcequotas", "resourcequota", &["quota"])
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
        name_rule: NameRule::PathSegment,
        check: check::core_event,
        ..kind("", "Event", "events", "event", &["ev"])
    },
    BuiltIn {
        create_on_update: true,
        selectable: &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        conversion: Some(Conversion {
            stored_as: "v1",
            collection: "events",
            to_stored: both::to_core,
            from_stored: both::from_core,
        }),
        check: check::event,
        ..kind("events.k8s.io", "Event", "events", "event", &["ev"])
    },
    BuiltIn {
        create_on_update: true,
        unconditional_update: false,
        check: check::lease,
        ..kind("coordination.k8s.io", "Lease", "leases", "lease", &[])
    },
];
