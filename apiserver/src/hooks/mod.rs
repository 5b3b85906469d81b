//! Webhooks and policies of admission, as their stored configurations describe them. `admission` calls and evaluates them.

mod criteria;
mod policies;

use std::sync::Arc;
use std::time::Duration;

use kubesmith_apiextensions::admission::{Compiler, Conditions};
use serde_json::Value;

use crate::groups::ADMISSION_REGISTRATION;
use crate::meta;
use crate::store::Object;
use crate::webhook::Endpoint;

pub(crate) use criteria::Criteria;
pub(crate) use policies::{Binding, Mutations, ParamKind, ParamRef, Patch, Policies, Policy};

/// The webhooks of all configurations, in the order in which they are called, and the policies.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) mutating: Vec<Hook>,
    pub(crate) validating: Vec<Hook>,
    pub(crate) policies: Policies,
}

/// One webhook.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(crate) name: String,
    pub(crate) criteria: Criteria,
    pub(crate) conditions: Conditions,
    /// `failurePolicy: Ignore`.
    pub(crate) ignores_failure: bool,
    pub(crate) timeout: Duration,
    /// Whether it may be called in a dry run.
    pub(crate) bears_dry_run: bool,
    /// `reinvocationPolicy: IfNeeded`.
    pub(crate) reinvoked: bool,
    /// The newest version of `AdmissionReview` that it takes; `None` if the server knows none of its versions.
    pub(crate) review_version: Option<&'static str>,
    pub(crate) endpoint: Endpoint,
}

impl Hooks {
    /// The webhooks and policies of the stored objects, which `stored` finds by their collection, in the order of their names.
    /// Policies that did not change since `before` are not compiled again.
    pub(crate) fn new(stored: &dyn Fn(&str) -> Vec<Arc<Object>>, before: &Self) -> Self {
        let hooks = |plural: &str| {
            let configurations = stored(&format!("{plural}.{ADMISSION_REGISTRATION}"));
            let hooks =
                configurations.iter().flat_map(|c| c.value["webhooks"].as_array().into_iter().flatten());
            hooks.map(Hook::of).collect()
        };
        Self {
            mutating: hooks("mutatingwebhookconfigurations"),
            validating: hooks("validatingwebhookconfigurations"),
            policies: Policies::new(stored, &before.policies),
        }
    }
}

impl Hook {
    fn of(hook: &Value) -> Self {
        let text = |key: &str| hook[key].as_str().unwrap_or_default();
        let ignores_failure = text("failurePolicy") == "Ignore";
        let versions = meta::strings(&hook["admissionReviewVersions"]);
        Self {
            name: text("name").to_owned(),
            criteria: Criteria::of_hook(hook),
            conditions: Conditions::of(&hook["matchConditions"], &Compiler::new(false)),
            ignores_failure,
            timeout: Duration::from_secs(hook["timeoutSeconds"].as_u64().unwrap_or(10)),
            bears_dry_run: matches!(text("sideEffects"), "None" | "NoneOnDryRun"),
            reinvoked: text("reinvocationPolicy") == "IfNeeded",
            review_version: versions.into_iter().find_map(|version| match version {
                "v1" => Some("v1"),
                "v1beta1" => Some("v1beta1"),
                _ => None,
            }),
            endpoint: Endpoint::of(&hook["clientConfig"]),
        }
    }
}
