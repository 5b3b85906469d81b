//! What an API server would say of objects, without asking one.

#[each(group)]
pub mod __group__;

/// Checks of objects that are to be written, as an API server does them: metadata, the schema, its rules.
///
/// All faults come at once. Defaults count as filled in.
pub trait Validate {
    /// What a server says when the object is created.
    #[must_use]
    fn validate(&self) -> ::kubesmith_runtime::field::FieldErrors;

    /// What a server says when the object replaces `old`. Faults that were there before are let pass.
    #[must_use]
    fn validate_update(&self, old: &Self) -> ::kubesmith_runtime::field::FieldErrors;
}

/// Checks of a status that is written by itself; kinds with a status subresource have them.
pub trait ValidateStatus: Validate {
    /// What a server says when the object's status replaces that of `old`. Nothing else of the object counts.
    #[must_use]
    fn validate_status_update(&self, old: &Self) -> ::kubesmith_runtime::field::FieldErrors;
}
