//! Admission webhooks: what `MutatingWebhookConfiguration`s and `ValidatingWebhookConfiguration`s do to writes.
//!
//! [`mutate`] comes before the server completes and checks an object, [`validate`] after it. Both are worked out again
//! when a write is tried again, as kube-apiserver does it. Without configurations a request passes with one look at an
//! empty list.

mod attributes;
mod conditions;
mod hook;
mod invoke;
mod mutating;
mod review;
mod rules;
mod validating;

pub(crate) use attributes::{Attributes, Operation, Options, kind_of_subresource};
pub(crate) use conditions::fault as condition_fault;
pub(crate) use hook::Hooks;
pub(crate) use mutating::mutate;
pub(crate) use validating::validate;

/// The API group of the configurations.
pub(crate) const GROUP: &str = "admissionregistration.k8s.io";
/// The store's collection of configurations of mutating webhooks.
pub(crate) const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
/// The store's collection of configurations of validating webhooks.
pub(crate) const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";
