//! What an API server would say of an object, without asking one.
//!
//! A [`SchemaValidator`] does with an object what a server does with it when it is written: unknown fields go, defaults come,
//! and then metadata, values, lists and rules (`x-kubernetes-validations`) are checked. What it finds is what the server
//! answers, in its words and all at once. On updates faults of parts that did not change are let pass, as servers do since
//! Kubernetes 1.33 (ratcheting).
//!
//! Generated packages have a validator of each kind (`validations::<group>::<version>::<kind>`), and a trait `Validate` over
//! it. By hand it is made of the text of one of a CRD's `spec.versions`:
//!
//! ```
//! use kubesmith_runtime::validation::SchemaValidator;
//! use serde_json::json;
//!
//! static WIDGETS: SchemaValidator = SchemaValidator::new(
//!     r#"{"schema": {"openAPIV3Schema": {"type": "object", "properties": {
//!         "spec": {"type": "object", "required": ["size"], "properties": {
//!             "size": {"type": "integer", "minimum": 1},
//!             "name": {"type": "string", "maxLength": 3,
//!                 "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is immutable"}]}}},
//!         "status": {"type": "object", "properties": {"phase": {"type": "string", "enum": ["Up", "Down"]}}}}}},
//!     "subresources": {"status": {}}}"#,
//! );
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! WIDGETS.definition()?;
//! let widget = |spec, phase| json!({"metadata": {"name": "a"}, "spec": spec, "status": {"phase": phase}});
//! let small = widget(json!({"size": 0, "name": "long"}), "Up");
//! let errors = WIDGETS.validate(&small);
//! assert_eq!(
//!     errors.to_string(),
//!     "[spec.name: Too long: may not be more than 3 bytes, \
//!      spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1, \
//!      <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the \
//!      existing errors to complete validation]"
//! );
//!
//! // What was wrong before may stay so.
//! assert!(WIDGETS.validate_update(&small, &small).is_empty());
//! let errors = WIDGETS.validate_update(&widget(json!({"size": 1, "name": "b"}), "Up"), &widget(json!({"size": 1, "name": "a"}), "Up"));
//! assert_eq!(errors.to_string(), r#"spec.name: Invalid value: "b": is immutable"#);
//!
//! // A status is written by itself.
//! assert_eq!(WIDGETS.validate_status_update(&widget(json!({"size": 1}), "Sideways"), &small).iter().count(), 2);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "webhook")]
mod webhook;

use std::fmt;
use std::sync::OnceLock;

use kubesmith_apiextensions::field::{Cause, CauseKind};
use kubesmith_apiextensions::structural::{CustomResource, SchemaError, Structural};
use serde::Serialize;
use serde_json::Value;

use crate::field::FieldErrors;

#[cfg(feature = "webhook")]
pub use webhook::WithSchema;

/// Checks objects of one version of a kind, as an API server does. The [module](self) has an example.
///
/// The definition is read, and its rules compiled, once: when an object is checked for the first time.
pub struct SchemaValidator {
    text: &'static str,
    read: OnceLock<Result<CustomResource, DefinitionError>>,
}

/// Why a definition cannot be used. Those that the command generates can.
///
/// ```
/// use kubesmith_runtime::validation::{DefinitionError, SchemaValidator};
///
/// static BROKEN: SchemaValidator = SchemaValidator::new("{");
///
/// assert!(matches!(BROKEN.definition(), Err(DefinitionError::Json(_))));
/// // Nothing passes a validator that does not know what to check.
/// assert!(BROKEN.validate(&1).to_string().starts_with("<nil>: Internal error: the definition is no JSON"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The text is no JSON.
    #[error("the definition is no JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// The schema cannot be read.
    #[error("the schema of the definition cannot be read: {0}")]
    Schema(#[source] SchemaError),
}

impl SchemaValidator {
    /// Makes a validator of one of the `spec.versions` of a CRD, as JSON. Nothing is read yet.
    #[must_use]
    pub const fn new(definition: &'static str) -> Self {
        Self { text: definition, read: OnceLock::new() }
    }

    /// Reads the definition, unless that was done before.
    ///
    /// # Errors
    /// The definition cannot be used; each object that is checked has an internal error then.
    pub fn definition(&self) -> Result<(), &DefinitionError> {
        self.resource().map(drop)
    }

    /// What a server says of an object that a client wants to create. A name that the server would make of `generateName` is
    /// judged with `xxxxx` at its end.
    #[must_use]
    pub fn validate<K: Serialize + ?Sized>(&self, object: &K) -> FieldErrors {
        self.judge(|resource| Ok(resource.create(serde_json::to_value(object)?)))
    }

    /// What a server says of an object that is to replace `old`.
    ///
    /// What is not up to the client is taken from `old`: most of metadata, and the status where that is a subresource. That
    /// others wrote in between is no fault of the object, so the resource version is not looked at.
    #[must_use]
    pub fn validate_update<K: Serialize + ?Sized>(&self, object: &K, old: &K) -> FieldErrors {
        self.judge(|resource| Ok(resource.update(serde_json::to_value(object)?, serde_json::to_value(old)?)))
    }

    /// What a server says of a status that is to replace that of `old`. Nothing else of `object` counts, while the rules of
    /// the whole object do.
    #[must_use]
    pub fn validate_status_update<K: Serialize + ?Sized>(&self, object: &K, old: &K) -> FieldErrors {
        self.judge(|resource| {
            Ok(resource.update_status(serde_json::to_value(object)?, serde_json::to_value(old)?))
        })
    }

    fn judge(&self, check: impl FnOnce(&CustomResource) -> serde_json::Result<Vec<Cause>>) -> FieldErrors {
        let causes = match self.resource() {
            Ok(resource) => check(resource).unwrap_or_else(|error| vec![internal(&error)]),
            Err(error) => vec![internal(error)],
        };
        causes.into_iter().map(Into::into).collect()
    }

    fn resource(&self) -> Result<&CustomResource, &DefinitionError> {
        self.read.get_or_init(|| read(self.text)).as_ref()
    }
}

fn read(text: &str) -> Result<CustomResource, DefinitionError> {
    let version: Value = serde_json::from_str(text).map_err(DefinitionError::Json)?;
    let schema = Structural::parse(&version["schema"]["openAPIV3Schema"]).map_err(DefinitionError::Schema)?;
    Ok(CustomResource::new(schema).with_subresources(&version["subresources"]))
}

fn internal(error: &dyn fmt::Display) -> Cause {
    Cause::new(CauseKind::Internal, "", "", error.to_string())
}

impl fmt::Debug for SchemaValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaValidator").field("read", &self.read.get().is_some()).finish_non_exhaustive()
    }
}
