//! Listers of `__ApiVersion__`.

__imports__! {}
__kinds__! {}
