//! Apply configurations of `__GroupVersion__`.

__imports__! {}
