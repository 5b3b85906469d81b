/// Returns the fields of the object that the field manager owns, to change and apply again. The object must come from a client:
/// the caches of informers leave managed fields out.
#[inline]
pub fn __extract__(object: &__Object__, field_manager: &str) -> Result<__Type__, __apply__::ExtractError> {
    __apply__::extract(object, field_manager, "")
}

/// Returns the fields of a subresource of the object, such as `status`, that the field manager owns.
#[inline]
pub fn __extract_from__(
    object: &__Object__,
    field_manager: &str,
    subresource: &str,
) -> Result<__Type__, __apply__::ExtractError> {
    __apply__::extract(object, field_manager, subresource)
}
