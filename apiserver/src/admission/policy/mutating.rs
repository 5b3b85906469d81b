//! `MutatingAdmissionPolicy`: expressions that change the object of a request.
//!
//! Source: apiserver's pkg/admission/plugin/policy/mutating.

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::super::attributes::{Attributes, Operation, Versioned};
use super::super::input::Input;
use super::super::reinvocation::{Reinvocation, Round};
use super::patch::Unpatched;
use super::{Invocation, Misconfigured, applying, are_exempt, namespace_of};
use crate::hooks::Mutations;
use crate::meta;
use crate::status::{ApiError, ApiResult, Cause};

/// A policy, a binding and a parameter, by their names.
pub(in crate::admission) type Key = (String, String, String);

/// An error of a policy whose failures count.
struct Failure {
    message: String,
    /// Whether the policy was evaluated; false for a configuration error.
    invoked: bool,
}

/// Lets the mutating policies change the object of a request; `None` for a deletion, which has nothing to change. Returns
/// whether one of them did.
///
/// # Errors
/// Returns the first failure, with the others as its causes.
pub(in crate::admission) async fn mutate(
    attributes: &Attributes<'_>,
    mut object: Option<&mut Value>,
    round: Round,
    again: &mut Reinvocation<Key>,
) -> ApiResult<bool> {
    let hooks = attributes.call.server.hooks();
    let policies = &hooks.policies.mutating;
    if policies.is_empty() || attributes.operation == Operation::Delete || are_exempt(attributes) {
        return Ok(false);
    }
    let (mut failures, mut invocations) = (Vec::new(), Vec::new());
    for found in applying(policies, attributes, object.as_deref()).await {
        match found {
            Ok(invocation) => invocations.push(invocation),
            Err(misconfigured) => failures.extend(failure_of(&misconfigured)),
        }
    }
    let mut dirty = false;
    if !invocations.is_empty() {
        again.begin(round, object.as_deref());
        let mut run = Run::new(attributes, object.as_deref())?;
        for invocation in &invocations {
            run.invoke(invocation, round, again).await?;
        }
        failures.append(&mut run.failures);
        dirty = run.dirty;
        if let (Some(object), true) = (object.as_deref_mut(), dirty) {
            again.changed();
            run.versioned.write_back(attributes, object).await?;
        }
        again.end(object.as_deref());
    }
    if failures.is_empty() { Ok(dirty) } else { Err(refused(attributes, object.as_deref(), &failures)) }
}

fn failure_of(misconfigured: &Misconfigured<'_, Mutations>) -> Option<Failure> {
    let Misconfigured { policy, binding, message } = misconfigured;
    let message = match binding {
        Some(binding) => {
            format!("policy '{}' with binding '{}' denied request: {message}", policy.name, binding.name)
        }
        None => format!("policy {} denied request: {message}", golang::quote(&policy.name)),
    };
    policy.fails.then_some(Failure { message, invoked: false })
}

/// Refuses a request as `Dispatch` of generic/policy_dispatcher.go does: the code stays that of `Forbidden`.
fn refused(attributes: &Attributes<'_>, object: Option<&Value>, failures: &[Failure]) -> ApiError {
    let about = attributes.def().subject(&attributes.shown_name(object));
    let (message, invoked) = failures.first().map_or(("", false), |first| (&first.message, first.invoked));
    let causes = failures.iter().map(|failure| Cause::new("", "", failure.message.clone()));
    ApiError::forbidden(about, "")
        .with_message(message)
        .with_reason(403, if invoked { "Invalid" } else { "Forbidden" })
        .with_causes(causes.collect())
}

/// The policies of one request.
struct Run<'r, 'a> {
    attributes: &'r Attributes<'a>,
    versioned: Versioned,
    namespace: Value,
    /// Whether a patch was applied.
    dirty: bool,
    failures: Vec<Failure>,
}

impl<'r, 'a> Run<'r, 'a> {
    fn new(attributes: &'r Attributes<'a>, object: Option<&Value>) -> ApiResult<Self> {
        let versioned = Versioned::new(attributes, object);
        Ok(Self {
            attributes,
            versioned,
            namespace: namespace_of(attributes)?,
            dirty: false,
            failures: Vec::new(),
        })
    }

    async fn invoke(
        &mut self,
        invocation: &Invocation<'_, Mutations>,
        round: Round,
        again: &mut Reinvocation<Key>,
    ) -> ApiResult<()> {
        let Invocation { policy, params, def, .. } = invocation;
        self.versioned.convert(self.attributes, def).await?;
        let input = Input::new(self.attributes, &self.versioned).with_params(params);
        match policy.conditions.hold(&input.bindings()) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => {
                self.fail(invocation, &error);
                return Ok(());
            }
        }
        let key = key_of(invocation);
        if !again.allows(round, &key) {
            return Ok(());
        }
        let before = self.versioned.object.clone();
        self.patch(invocation)?;
        if before != self.versioned.object {
            again.changed();
        }
        if policy.body.reinvoked {
            again.invoked(key);
        }
        Ok(())
    }

    /// Applies the mutations of a policy in order and goes on after a failed one.
    fn patch(&mut self, invocation: &Invocation<'_, Mutations>) -> ApiResult<()> {
        let Invocation { policy, params, .. } = invocation;
        for patch in &policy.body.patches {
            let Some(object) = &self.versioned.object else { break };
            let input = Input::new(self.attributes, &self.versioned)
                .with_params(params)
                .with_namespace(&self.namespace);
            match patch.apply(self.attributes, &self.versioned.def, object, &input, &policy.variables) {
                Ok(patched) => {
                    self.versioned.object = Some(patched);
                    self.dirty = true;
                }
                Err(Unpatched::Refused(error)) => return Err(error),
                Err(Unpatched::Failed(error)) => self.fail(invocation, &error),
            }
        }
        Ok(())
    }

    fn fail(&mut self, invocation: &Invocation<'_, Mutations>, error: &str) {
        let Invocation { policy, binding, .. } = invocation;
        if policy.fails {
            let message =
                format!("policy '{}' with binding '{}' denied request: {error}", policy.name, binding.name);
            self.failures.push(Failure { message, invoked: true });
        }
    }
}

fn key_of(invocation: &Invocation<'_, Mutations>) -> Key {
    let Invocation { policy, binding, params, .. } = invocation;
    let params = format!("{}/{}", meta::namespace(params), meta::name(params));
    (policy.name.clone(), binding.name.clone(), params)
}
