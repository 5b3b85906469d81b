//! Webhooks as their configurations describe them, and whether one hears of a request.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::attributes::{Attributes, Operation, Versioned};
use super::conditions::Conditions;
use super::rules::Rule;
use crate::meta;
use crate::registry::ResourceDef;
use crate::selector;
use crate::status::{About, ApiError, ApiResult};
use crate::webhook::Endpoint;

/// The webhooks of all configurations, in the order in which they are called.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(super) mutating: Vec<Hook>,
    pub(super) validating: Vec<Hook>,
}

/// One webhook.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: String,
    rules: Vec<Rule>,
    namespace_selector: Value,
    object_selector: Value,
    conditions: Conditions,
    /// `matchPolicy: Equivalent`: rules take in other versions of the resource too.
    equivalent: bool,
    /// `failurePolicy: Ignore`.
    pub(super) ignores_failure: bool,
    pub(super) timeout: Duration,
    /// Whether it may be called in a dry run.
    pub(super) bears_dry_run: bool,
    /// `reinvocationPolicy: IfNeeded`.
    pub(super) reinvoked: bool,
    /// The version of `AdmissionReview` that it gets; `None` if it takes none that the server knows.
    pub(super) review_version: Option<&'static str>,
    pub(super) endpoint: Endpoint,
}

impl Hooks {
    /// The webhooks of configurations, which come in the order of their names.
    pub(crate) fn new(mutating: &[Value], validating: &[Value]) -> Self {
        let hooks = |configurations: &[Value]| {
            let hooks = configurations.iter().flat_map(|c| c["webhooks"].as_array().into_iter().flatten());
            hooks.map(Hook::of).collect()
        };
        Self { mutating: hooks(mutating), validating: hooks(validating) }
    }
}

impl Hook {
    fn of(hook: &Value) -> Self {
        let text = |key: &str| hook[key].as_str().unwrap_or_default();
        let ignores_failure = text("failurePolicy") == "Ignore";
        let versions = meta::strings(&hook["admissionReviewVersions"]);
        Self {
            name: text("name").to_owned(),
            rules: hook["rules"].as_array().into_iter().flatten().map(Rule::of).collect(),
            namespace_selector: hook["namespaceSelector"].clone(),
            object_selector: hook["objectSelector"].clone(),
            conditions: Conditions::of(&hook["matchConditions"]),
            equivalent: text("matchPolicy") != "Exact",
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

    /// The version of the resource in which the webhook hears of the request; `None` when it does not, as far as rules
    /// and selectors say.
    ///
    /// # Errors
    /// When a selector cannot be evaluated.
    pub(super) fn matches(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> ApiResult<Option<Arc<ResourceDef>>> {
        let in_namespace = self.selects_namespace(attributes, object);
        if matches!(in_namespace, Ok(false)) || !self.selects_object(attributes, object) {
            return Ok(None);
        }
        let found = self.resource(attributes);
        // A namespace that is not there matters only to those whom the request concerns.
        if found.is_some() {
            in_namespace?;
        }
        Ok(found)
    }

    fn resource(&self, attributes: &Attributes<'_>) -> Option<Arc<ResourceDef>> {
        let own = attributes.def();
        if self.rules.iter().any(|rule| rule.takes(attributes, own)) {
            return Some(own.clone());
        }
        if !self.equivalent {
            return None;
        }
        let registry = attributes.call.server.registry();
        let others: Vec<_> =
            registry.all().filter(|def| def.collection == own.collection && !Arc::ptr_eq(def, own)).collect();
        self.rules
            .iter()
            .find_map(|rule| others.iter().find(|def| rule.takes(attributes, def)).map(|def| Arc::clone(def)))
    }

    fn selects_namespace(&self, attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<bool> {
        let name = attributes.namespace();
        if selector::is_empty(&self.namespace_selector) || (name.is_empty() && !attributes.is_namespace()) {
            return Ok(true);
        }
        let labels =
            |namespace: &Value| selector::matches(&self.namespace_selector, &namespace["metadata"]["labels"]);
        let is_written = attributes.operation != Operation::Delete && attributes.subresource().is_empty();
        if let Some(object) = object.filter(|_| attributes.is_namespace() && is_written) {
            return Ok(labels(object));
        }
        match attributes.call.server.store.get("namespaces", name) {
            Some(namespace) => Ok(labels(&namespace.value)),
            None => Err(ApiError::not_found(About::new("", "namespaces", name))),
        }
    }

    fn selects_object(&self, attributes: &Attributes<'_>, object: Option<&Value>) -> bool {
        let selected =
            |object: &Value| selector::matches(&self.object_selector, &object["metadata"]["labels"]);
        selector::is_empty(&self.object_selector)
            || object.is_some_and(selected)
            || attributes.old.is_some_and(selected)
    }

    /// Whether the match conditions let the webhook hear of the request.
    ///
    /// # Errors
    /// `Forbidden` when a condition cannot be evaluated and the webhook's failures are not ignored.
    pub(super) fn conditions_hold(
        &self,
        attributes: &Attributes<'_>,
        versioned: &Versioned,
    ) -> ApiResult<bool> {
        self.conditions.hold(attributes, versioned).or_else(|error| {
            if self.ignores_failure {
                return Ok(false);
            }
            Err(ApiError::forbidden(attributes.def().about(attributes.name), &error))
        })
    }
}
