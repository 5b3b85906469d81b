//! Validation of objects by the rules of an API server, without a server.

use ::kubesmith_runtime::field::FieldErrors;
use ::kubesmith_runtime::serde::Serialize;
use ::kubesmith_runtime::validation::SchemaValidator;

__modules__! {}

/// The CRDs of this package.
pub(crate) const CRDS: &str = ::core::include_str!("../crds.json");

/// Validates objects as an API server does before it stores them: metadata, the schema and its rules. It returns all faults at
/// once, and fills in defaults before.
pub trait Validate: Serialize + Sized {
    /// The validator of the kind.
    fn validator() -> &'static SchemaValidator;

    /// Validates a new object.
    #[must_use]
    fn validate(&self) -> FieldErrors {
        Self::validator().validate(self)
    }

    /// Validates an object that replaces `old`. It accepts faults that `old` has as well.
    #[must_use]
    fn validate_update(&self, old: &Self) -> FieldErrors {
        Self::validator().validate_update(self, old)
    }
}

/// Validates a status that is written by itself. Kinds with a status subresource implement this.
pub trait ValidateStatus: Validate {
    /// Validates the status of an object that replaces that of `old`, and nothing else of the object.
    #[must_use]
    fn validate_status_update(&self, old: &Self) -> FieldErrors {
        Self::validator().validate_status_update(self, old)
    }
}
