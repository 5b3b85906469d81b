//! Validation of the `__Kind__` objects of `__ApiVersion__`.

/// Checks `__Kind__` objects by their schema; also to be given to a validating webhook.
pub static VALIDATOR: ::kubesmith_runtime::validation::SchemaValidator =
    ::kubesmith_runtime::validation::SchemaValidator::of_crd(
        ::core::include_str!("../../../crds.json"),
        "__crd_name__",
        "__version_name__",
    );

impl __root__::validations::Validate for __ObjectPath__ {
    fn validate(&self) -> ::kubesmith_runtime::field::FieldErrors {
        VALIDATOR.validate(self)
    }

    fn validate_update(&self, old: &Self) -> ::kubesmith_runtime::field::FieldErrors {
        VALIDATOR.validate_update(self, old)
    }
}

#[when(status)]
impl __root__::validations::ValidateStatus for __ObjectPath__ {
    fn validate_status_update(&self, old: &Self) -> ::kubesmith_runtime::field::FieldErrors {
        VALIDATOR.validate_status_update(self, old)
    }
}
