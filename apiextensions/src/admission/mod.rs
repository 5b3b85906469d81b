//! Admission: the checks of webhook configurations and admission policies, and the variables and types of their
//! expressions.

mod compiler;
mod policies;
mod rules;
mod webhooks;

use serde_json::Value;

pub use compiler::{Compiled, Compiler, custom_object};
pub use policies::{mutating_policy, mutating_policy_binding, validating_policy, validating_policy_binding};
pub use webhooks::webhook_configuration;

/// Returns a string in a JSON object, empty when absent.
fn member<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

/// Returns the strings of a list.
fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
