//! What an API server would say of objects, without asking one.

use ::kubesmith_runtime::field::FieldErrors;
use ::kubesmith_runtime::serde::Serialize;
use ::kubesmith_runtime::validation::SchemaValidator;

__modules__! {}

/// The CRDs of this package.
pub(crate) const CRDS: &str = ::core::include_str!("../crds.json");

/// Checks of objects that are to be written, as an API server does them: metadata, the schema, its rules. All faults come at
/// once. Defaults count as filled in.
pub trait Validate: Serialize + Sized {
    /// The validator of the kind.
    fn validator() -> &'static SchemaValidator;

    /// What a server says when the object is created.
    #[must_use]
    fn validate(&self) -> FieldErrors {
        Self::validator().validate(self)
    }

    /// What a server says when the object replaces `old`. Faults that were there before are let pass.
    #[must_use]
    fn validate_update(&self, old: &Self) -> FieldErrors {
        Self::validator().validate_update(self, old)
    }
}

/// Checks of a status that is written by itself; kinds with a status subresource have them.
pub trait ValidateStatus: Validate {
    /// What a server says when the object's status replaces that of `old`. Nothing else of the object counts.
    #[must_use]
    fn validate_status_update(&self, old: &Self) -> FieldErrors {
        Self::validator().validate_status_update(self, old)
    }
}
