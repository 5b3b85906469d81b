//! Selects the requests of a webhook or a policy by rules and selectors.
//!
//! Source: apiserver's pkg/admission/plugin/policy/matching and pkg/admission/plugin/webhook/generic.

use std::sync::Arc;

use kubesmith_apiextensions::admission::{Request, Rule};
use serde_json::Value;

use super::attributes::{Attributes, Operation, Versioned};
use super::input::Input;
use crate::hooks::{Criteria, Hook};
use crate::registry::ResourceDef;
use crate::selector;
use crate::status::{ApiError, ApiResult, ErrorSubject};

impl Criteria {
    /// Returns the version of the resource in which the rules match the request; `None` if they do not.
    ///
    /// # Errors
    /// When a selector cannot be evaluated.
    pub(super) fn matches(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> ApiResult<Option<Arc<ResourceDef>>> {
        let in_namespace = self.selects_namespace(attributes, object);
        if matches!(in_namespace, Ok(false))
            || !self.selects_object(attributes, object)
            || self.resource(attributes, &self.excluded).is_some()
        {
            return Ok(None);
        }
        let found = match &self.rules {
            Some(rules) => self.resource(attributes, rules),
            None => Some(attributes.def().clone()),
        };
        // A missing namespace is an error only if the rules match the request.
        if found.is_some() {
            in_namespace?;
        }
        Ok(found)
    }

    fn resource(&self, attributes: &Attributes<'_>, rules: &[Rule]) -> Option<Arc<ResourceDef>> {
        let own = attributes.def();
        if rules.iter().any(|rule| rule.takes(&asked(attributes, own))) {
            return Some(own.clone());
        }
        if !self.equivalent || rules.is_empty() {
            return None;
        }
        let registry = attributes.call.server.registry();
        let others: Vec<_> =
            registry.all().filter(|def| def.collection == own.collection && !Arc::ptr_eq(def, own)).collect();
        rules.iter().find_map(|rule| {
            others.iter().find(|def| rule.takes(&asked(attributes, def))).map(|def| Arc::clone(def))
        })
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
            None => Err(ApiError::not_found(ErrorSubject::new("", "namespaces", name))),
        }
    }

    fn selects_object(&self, attributes: &Attributes<'_>, object: Option<&Value>) -> bool {
        let selected =
            |object: &Value| selector::matches(&self.object_selector, &object["metadata"]["labels"]);
        selector::is_empty(&self.object_selector)
            || object.is_some_and(selected)
            || attributes.old.is_some_and(selected)
    }
}

/// The request as one for the resource `def`.
fn asked<'a>(attributes: &'a Attributes<'_>, def: &'a ResourceDef) -> Request<'a> {
    Request {
        operation: attributes.operation.name(),
        group: &def.group,
        version: &def.version,
        resource: &def.plural,
        subresource: attributes.subresource(),
        name: attributes.name,
        namespaced: !attributes.is_namespace() && !attributes.namespace().is_empty(),
    }
}

/// Reports whether the match conditions of a webhook select the request.
///
/// # Errors
/// `Forbidden` when a condition cannot be evaluated and the webhook's failures are not ignored.
pub(super) fn conditions_hold(
    hook: &Hook,
    attributes: &Attributes<'_>,
    versioned: &Versioned,
) -> ApiResult<bool> {
    if hook.conditions.is_empty() {
        return Ok(true);
    }
    hook.conditions.hold(&Input::new(attributes, versioned).bindings()).or_else(|error| {
        if hook.ignores_failure {
            return Ok(false);
        }
        Err(ApiError::forbidden(attributes.def().subject(attributes.name), &error))
    })
}
