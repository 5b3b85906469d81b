/// Validation of `__Kind__` objects.
pub mod __module__ {
    /// Validates `__Kind__` objects by their schema. A validating webhook can use it too.
    pub static VALIDATOR: super::SchemaValidator =
        super::SchemaValidator::of_crd(__root__::validations::CRDS, "__crd__", "__version__");
}

impl __root__::validations::Validate for __Object__ {
    fn validator() -> &'static SchemaValidator {
        &__module__::VALIDATOR
    }
}
