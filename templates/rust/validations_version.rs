//! Validation of the kinds of `__ApiVersion__`.

#[each(kind)]
pub mod __module__;
