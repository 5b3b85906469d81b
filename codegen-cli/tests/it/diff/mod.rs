//! `kubesmith diff`: every kind of change has the verdict that an API server's behaviour justifies.

mod cases;
mod command;
mod committed;
mod revisions;
mod server;

use kubesmith::diff::{Definition, Definitions};
use kubesmith::import::canonical;
use serde_json::Value;

/// The set of one definition.
pub(crate) fn set(object: &Value) -> Definitions {
    let stored = object.pointer("/status/storedVersions").and_then(Value::as_array);
    let stored = stored.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    let mut canonical = canonical(object);
    if object.pointer("/spec/preserveUnknownFields") == Some(&Value::Bool(true)) {
        canonical["spec"]["preserveUnknownFields"] = true.into();
    }
    let definition = Definition::new(canonical, &[], stored).unwrap();
    Definitions::from([(definition.name.clone(), definition)])
}
