//! Listers of `__ApiVersion__`.

#[each(kind)]
pub mod __module__;

#[each(kind)]
#[when(cluster)]
#[when(reexport)]
pub use self::__module__::__Kind__Lister;
#[each(kind)]
#[when(namespaced)]
#[when(reexport)]
pub use self::__module__::{__Kind__Lister, __Kind__NamespaceLister};
