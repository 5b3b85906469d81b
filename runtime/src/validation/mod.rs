//! Validates objects as an API server does, without a request.
//!
//! A [`SchemaValidator`] treats an object like a server on a write: it prunes unknown fields, sets defaults, and
//! checks metadata, values, lists and rules (`x-kubernetes-validations`). It returns the server's errors, in the
//! same words and all at once. On updates, errors in unchanged parts are ignored, as by servers since Kubernetes
//! 1.33 (ratcheting).
//!
//! If there is no other error, the validators of generated packages also evaluate the validating policies of the package
//! (`#[policy(...)]`), as far as the object and the one that it replaces decide. Only a server can evaluate the rest:
//! policies with parameters or a namespace selector, and expressions that use `authorizer`, `namespaceObject`, fields of
//! `request` other than the operation and the subresource, or metadata that the server sets. Mutations are not applied.
//!
//! Generated packages have a validator of each kind (`validations::<group>::<version>::<kind>`), and a trait
//! `Validate` that calls it. Otherwise, make one from the text of one of a CRD's `spec.versions`:
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
//! // An error that existed before is ignored.
//! assert!(WIDGETS.validate_update(&small, &small).is_empty());
//! let errors = WIDGETS.validate_update(&widget(json!({"size": 1, "name": "b"}), "Up"), &widget(json!({"size": 1, "name": "a"}), "Up"));
//! assert_eq!(errors.to_string(), r#"spec.name: Invalid value: "b": is immutable"#);
//!
//! // A status is written separately.
//! assert_eq!(WIDGETS.validate_status_update(&widget(json!({"size": 1}), "Sideways"), &small).iter().count(), 2);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "webhook")]
mod webhook;

use std::fmt;
use std::sync::OnceLock;

use kubesmith_apiextensions::admission::{ObjectPolicies, Request};
use kubesmith_apiextensions::structural::{CustomResource, Schema, SchemaError, Written};
use kubesmith_apimachinery::field::{Cause, CauseKind};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::field::FieldErrors;

#[cfg(feature = "webhook")]
pub use webhook::WithSchema;

/// Checks objects of one version of a kind, as an API server does. The [module](self) has an example.
///
/// The first check reads the definition and compiles its rules.
pub struct SchemaValidator {
    source: Source,
    read: OnceLock<Result<Definition, DefinitionError>>,
}

/// A definition that was read.
struct Definition {
    resource: CustomResource,
    policies: ObjectPolicies,
    names: Names,
}

/// The names of a resource, as the rules of policies compare them.
#[derive(Default)]
struct Names {
    group: String,
    version: &'static str,
    plural: String,
    namespaced: bool,
}

/// The location of a definition.
struct Source {
    text: &'static str,
    /// The name of a CRD in a list, and its version; `None`: the text is the version.
    of_crd: Option<(&'static str, &'static str)>,
}

/// A definition cannot be used. Generated definitions never cause this.
///
/// ```
/// use kubesmith_runtime::validation::{DefinitionError, SchemaValidator};
///
/// static BROKEN: SchemaValidator = SchemaValidator::new("{");
///
/// assert!(matches!(BROKEN.definition(), Err(DefinitionError::Json(_))));
/// // Nothing passes a validator without a usable definition.
/// assert!(BROKEN.validate(&1).to_string().starts_with("<nil>: Internal error: the definition is not JSON"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The text is not JSON.
    #[error("the definition is not JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// The list does not have the CRD, or the CRD does not have the version.
    #[error("the list has no CRD `{name}` with a version `{version}`")]
    Missing {
        /// The name of the CRD.
        name: &'static str,
        /// The version.
        version: &'static str,
    },
    /// The schema cannot be read.
    #[error("cannot read the schema of the definition: {0}")]
    Schema(#[source] SchemaError),
}

impl SchemaValidator {
    /// Makes a validator of one of the `spec.versions` of a CRD, as JSON. It reads nothing yet.
    #[must_use]
    pub const fn new(definition: &'static str) -> Self {
        Self { source: Source { text: definition, of_crd: None }, read: OnceLock::new() }
    }

    /// Makes a validator of a version of a CRD, which stands in a list of CRDs as JSON. Nothing is read yet. Beside its
    /// `items`, the list may have `policies`: validating admission policies with their bindings.
    ///
    /// ```
    /// use kubesmith_runtime::validation::SchemaValidator;
    ///
    /// const CRDS: &str = r#"{"items": [{"metadata": {"name": "carts.example.com"}, "spec": {"versions": [
    ///     {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}]}}]}"#;
    ///
    /// assert!(SchemaValidator::of_crd(CRDS, "carts.example.com", "v1").definition().is_ok());
    /// let missing = SchemaValidator::of_crd(CRDS, "carts.example.com", "v2");
    /// assert_eq!(missing.definition().unwrap_err().to_string(), "the list has no CRD `carts.example.com` with a version `v2`");
    /// ```
    #[must_use]
    pub const fn of_crd(crds: &'static str, name: &'static str, version: &'static str) -> Self {
        Self { source: Source { text: crds, of_crd: Some((name, version)) }, read: OnceLock::new() }
    }

    /// Reads the definition, unless that was done before.
    ///
    /// # Errors
    /// The definition cannot be used. Every check then returns an internal error.
    pub fn definition(&self) -> Result<(), &DefinitionError> {
        self.read().map(drop)
    }

    /// Returns the server's errors for a new object. If the server would generate the name, `generateName` is
    /// checked with `xxxxx` at its end.
    #[must_use]
    pub fn validate<K: Serialize + ?Sized>(&self, object: &K) -> FieldErrors {
        self.admitted("CREATE", "", self.written(object, None, ""))
    }

    /// Returns the server's errors for an object that replaces `old`.
    ///
    /// Fields that clients cannot change are taken from `old`: most of the metadata, and the status if it is a
    /// subresource. Concurrent writes are not an error of the object, so the resource version is not compared.
    #[must_use]
    pub fn validate_update<K: Serialize + ?Sized>(&self, object: &K, old: &K) -> FieldErrors {
        self.admitted("UPDATE", "", self.written(object, Some(old), ""))
    }

    /// Returns the server's errors for a status that replaces that of `old`. The other fields of `object` are
    /// ignored, but the rules of the whole object apply.
    #[must_use]
    pub fn validate_status_update<K: Serialize + ?Sized>(&self, object: &K, old: &K) -> FieldErrors {
        self.admitted("UPDATE", "status", self.written(object, Some(old), "status"))
    }

    /// The write as a server sees it, with the errors of the schema.
    fn written<K: Serialize + ?Sized>(&self, object: &K, old: Option<&K>, subresource: &str) -> Written {
        let write = |definition: &Definition| {
            let object = serde_json::to_value(object)?;
            let resource = &definition.resource;
            Ok(match old.map(serde_json::to_value).transpose()? {
                None => resource.create(object),
                Some(old) if subresource == "status" => resource.update_status(object, old),
                Some(old) => resource.update(object, old),
            })
        };
        let failed = |error: &dyn fmt::Display| {
            Written::refused(Value::Null, None, Cause::new(CauseKind::Internal, "", "", error.to_string()))
        };
        match self.read() {
            Ok(definition) => write(definition).unwrap_or_else(|error: serde_json::Error| failed(&error)),
            Err(error) => failed(error),
        }
    }

    /// Adds the errors of policies, which a server evaluates after it has found no other error.
    fn admitted(&self, operation: &str, subresource: &str, written: Written) -> FieldErrors {
        let errors = match self.read() {
            Ok(definition) if written.causes.is_empty() => {
                definition.refusals(operation, subresource, &written)
            }
            _ => written.causes,
        };
        errors.into_iter().map(Into::into).collect()
    }

    fn read(&self) -> Result<&Definition, &DefinitionError> {
        self.read.get_or_init(|| read(&self.source)).as_ref()
    }
}

impl Definition {
    fn new(version: &Value) -> Result<Self, DefinitionError> {
        let schema =
            Schema::enforced(&version["schema"]["openAPIV3Schema"]).map_err(DefinitionError::Schema)?;
        let resource = CustomResource::new(schema).with_subresources(&version["subresources"]);
        Ok(Self { resource, policies: ObjectPolicies::default(), names: Names::default() })
    }

    /// Adds the policies that apply to a version of the CRD with this `spec`.
    fn with_policies(mut self, policies: &[Value], spec: &Value, version: &'static str) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.policies = ObjectPolicies::new(policies, &text(&spec["names"]["kind"]), self.resource.schema());
        self.names = Names {
            group: text(&spec["group"]),
            version,
            plural: text(&spec["names"]["plural"]),
            namespaced: spec["scope"] == "Namespaced",
        };
        self
    }

    fn refusals(&self, operation: &str, subresource: &str, written: &Written) -> Vec<Cause> {
        let Names { group, version, plural, namespaced } = &self.names;
        let (resource, name) = (plural.as_str(), "");
        let namespaced = *namespaced;
        let request = Request { operation, group, version, resource, subresource, name, namespaced };
        self.policies.check(&request, written)
    }
}

/// Reads the version of a CRD in a list, with the list's policies. The other CRDs are passed over, not parsed.
fn of_list(
    crds: &'static str,
    name: &'static str,
    version: &'static str,
) -> Result<Definition, DefinitionError> {
    #[derive(serde::Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        items: Vec<&'a RawValue>,
        #[serde(default)]
        policies: Vec<Value>,
    }
    #[derive(serde::Deserialize)]
    struct Named {
        metadata: Metadata,
    }
    #[derive(serde::Deserialize)]
    struct Metadata {
        name: String,
    }
    let list: List<'_> = serde_json::from_str(crds).map_err(DefinitionError::Json)?;
    for item in list.items {
        let named: Named = serde_json::from_str(item.get()).map_err(DefinitionError::Json)?;
        if named.metadata.name == name {
            let crd: Value = serde_json::from_str(item.get()).map_err(DefinitionError::Json)?;
            let mut versions = crd["spec"]["versions"].as_array().into_iter().flatten();
            let found = versions.find(|found| found["name"] == version);
            let found = found.ok_or(DefinitionError::Missing { name, version })?;
            return Ok(Definition::new(found)?.with_policies(&list.policies, &crd["spec"], version));
        }
    }
    Err(DefinitionError::Missing { name, version })
}

fn read(source: &Source) -> Result<Definition, DefinitionError> {
    match source.of_crd {
        None => Definition::new(&serde_json::from_str(source.text).map_err(DefinitionError::Json)?),
        Some((name, version)) => of_list(source.text, name, version),
    }
}

impl fmt::Debug for SchemaValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaValidator").field("read", &self.read.get().is_some()).finish_non_exhaustive()
    }
}
