//! Configuration of the cluster: API services, definitions, webhooks, policies, flow control.

use super::kind;
use crate::builtin::{BuiltIn, Generation, admission, check, defaults};
use crate::groups;
use crate::names::NameRule;

/// The common part of both kinds of webhook configurations.
const fn webhook_configuration(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn {
        namespaced: false,
        generation: Generation::Counted,
        unconditional_update: false,
        categories: &["api-extensions"],
        check: admission::check_webhooks,
        ..kind(groups::ADMISSION_REGISTRATION, name, plural, singular, &[])
    }
}

/// A kind of flow control; the server stores it but does not queue requests.
const fn flow_control(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn {
        check_status: check::flow_status,
        namespaced: false,
        status: true,
        generation: Generation::Counted,
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
        default: defaults::api_service,
        check: check::api_service,
        name_rule: NameRule::PathSegment,
        ..kind(groups::API_REGISTRATION, "APIService", "apiservices", "apiservice", &[])
    },
    BuiltIn {
        default: defaults::flow_schema,
        check: check::flow_schema,
        ..flow_control("FlowSchema", "flowschemas", "flowschema")
    },
    BuiltIn {
        default: defaults::priority_level,
        check: check::priority_level,
        ..flow_control(
            "PriorityLevelConfiguration",
            "prioritylevelconfigurations",
            "prioritylevelconfiguration",
        )
    },
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
        generation: Generation::First,
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
        generation: Generation::Counted,
        categories: &["api-extensions"],
        default: crate::crd::default,
        check: crate::crd::check,
        ..kind(
            groups::API_EXTENSIONS,
            "CustomResourceDefinition",
            crate::crd::PLURAL,
            "customresourcedefinition",
            &["crd", "crds"],
        )
    },
];
