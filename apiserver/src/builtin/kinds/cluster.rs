//! What a cluster as a whole is told.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
use serde::Deserialize as _;
use serde_json::Value;

use super::kind;
use crate::builtin::{BuiltIn, check, defaults, webhooks};

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
        check: webhooks::check,
        ..kind(crate::admission::GROUP, name, plural, singular, &[])
    }
}

pub(super) static KINDS: &[BuiltIn] = &[
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
        default: webhooks::default_mutating,
        ..webhook_configuration(
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            "mutatingwebhookconfiguration",
        )
    },
    BuiltIn {
        default: webhooks::default_validating,
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
