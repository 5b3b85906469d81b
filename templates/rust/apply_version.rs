//! Apply configurations of `__group__::__version__`.

#[each(ty)]
pub mod __module__;

#[each(ty)]
#[when(kind)]
pub use self::__module__::{__Type__ApplyConfiguration, __extract__, __extract___from};
#[each(ty)]
#[unless(kind)]
pub use self::__module__::__Type__ApplyConfiguration;
