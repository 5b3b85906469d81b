//! Informers of `__ApiVersion__`.

__imports__! {}

/// Informers of `__ApiVersion__`: one accessor per kind.
#[derive(Clone, Debug)]
pub struct __Informers__(pub(super) informer::SharedInformerFactory);

impl __Informers__ {
    __accessors__! {}
}

__kinds__! {}
