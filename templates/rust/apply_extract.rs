/// What the field manager has applied to the object, as far as it still owns it: to be changed and applied again. The object
/// has to come from a client: the caches of informers leave managed fields out.
#[inline]
pub fn __extract__(object: &__Object__, field_manager: &str) -> Result<__Type__, __apply__::ExtractError> {
    __apply__::extract(object, field_manager, "")
}

/// What the field manager has applied to a subresource of the object, such as `status`.
#[inline]
pub fn __extract_from__(
    object: &__Object__,
    field_manager: &str,
    subresource: &str,
) -> Result<__Type__, __apply__::ExtractError> {
    __apply__::extract(object, field_manager, subresource)
}
