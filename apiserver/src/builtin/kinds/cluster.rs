//! What a cluster as a whole is told.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use serde::Deserialize as _;
use serde_json::Value;

use super::kind;
use crate::builtin::{BuiltIn, admission, check, defaults};

/// CRDs are no part of the table of types: they are read into their type and written back.
fn definition(value: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(apiextensions::v1::CustomResourceDefinition::deserialize(value)?)
}

/// What both kinds of webhook configurations have in common.
const fn webhook_configuration(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn {
        namespaced: false,
        generation: true,
        unconditional_update: false,
        categories: &["api-extensions"],
        check: admission::check_webhooks,
        ..kind(crate::admission::GROUP, name, plural, singular, &[])
    }
}

/// A kind of the server's flow control; requests here are not queued by it.
const fn flow_control(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn {
        namespaced: false,
        status: true,
        generation: true,
        ..kind("flowcontrol.apiserver.k8s.io", name, plural, singular, &[])
    }
}

pub(super) static KINDS: &[BuiltIn] = &[
    BuiltIn {
        namespaced: false,
        computed: true,
        deprecated: Some("v1 ComponentStatus is deprecated in v1.19+"),
        ..kind("", "ComponentStatus", "componentstatuses", "componentstatus", &["cs"])
    },
    BuiltIn {
        namespaced: false,
        status: true,
        unconditional_update: false,
        categories: &["api-extensions"],
        ..kind(crate::api_services::GROUP, "APIService", "apiservices", "apiservice", &[])
    },
    flow_control("FlowSchema", "flowschemas", "flowschema"),
    flow_control("PriorityLevelConfiguration", "prioritylevelconfigurations", "prioritylevelconfiguration"),
    BuiltIn {
        status: true,
        default: admission::default_policy,
        check: admission::check_validating,
        ..webhook_configuration(
            "ValidatingAdmissionPolicy",
            "validatingadmissionpolicies",
            "validatingadmissionpolicy",
        )
    },
    BuiltIn {
        default: admission::default_binding,
        check: admission::check_validating_binding,
        ..webhook_configuration(
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
            "validatingadmissionpolicybinding",
        )
    },
    BuiltIn {
        default: admission::default_policy,
        check: admission::check_mutating,
        ..webhook_configuration(
            "MutatingAdmissionPolicy",
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicy",
        )
    },
    BuiltIn {
        default: admission::default_binding,
        check: admission::check_mutating_binding,
        ..webhook_configuration(
            "MutatingAdmissionPolicyBinding",
            "mutatingadmissionpolicybindings",
            "mutatingadmissionpolicybinding",
        )
    },
    BuiltIn {
        namespaced: false,
        generation: true,
        default: defaults::priority_class,
        check: check::priority_class,
        ..kind("scheduling.k8s.io", "PriorityClass", "priorityclasses", "priorityclass", &["pc"])
    },
    BuiltIn {
        namespaced: false,
        unconditional_update: false,
        check: check::runtime_class,
        ..kind("node.k8s.io", "RuntimeClass", "runtimeclasses", "runtimeclass", &[])
    },
    BuiltIn {
        default: admission::default_mutating,
        ..webhook_configuration(
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            "mutatingwebhookconfiguration",
        )
    },
    BuiltIn {
        default: admission::default_validating,
        ..webhook_configuration(
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            "validatingwebhookconfiguration",
        )
    },
    BuiltIn {
        namespaced: false,
        unconditional_update: false,
        status: true,
        generation: true,
        categories: &["api-extensions"],
        typed: Some(definition),
        default: crate::crd::default,
        check: crate::crd::check,
        ..kind(
            crate::crd::GROUP,
            "CustomResourceDefinition",
            crate::crd::PLURAL,
            "customresourcedefinition",
            &["crd", "crds"],
        )
    },
];
