//! Admission: the checks of webhook configurations and admission policies, the variables and types of their
//! expressions, and their evaluation.

mod alone;
mod compiler;
mod conditions;
mod evaluation;
mod policies;
mod rules;
mod selection;
mod validations;
mod webhooks;

use serde_json::Value;

pub use alone::ObjectPolicies;
pub use compiler::{Compiled, Compiler, custom_object, patch_fits};
pub use conditions::Conditions;
pub use evaluation::{Evaluation, Failed, POLICY_BUDGET};
pub use policies::{mutating_policy, mutating_policy_binding, validating_policy, validating_policy_binding};
pub use selection::{Request, Rule};
pub use validations::{Denial, INVALID, Validations};
pub use webhooks::webhook_configuration;

/// Returns a string in a JSON object, empty when absent.
fn member<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

/// Returns the items of a list in a JSON object, none when absent.
fn list<'a>(object: &'a Value, name: &str) -> std::slice::Iter<'a, Value> {
    object[name].as_array().map_or(&[][..], Vec::as_slice).iter()
}

/// Returns the strings of a list.
fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
