//! Apply configurations of `__group__::__version__`.

#[each(ty)]
pub mod __module__;

#[each(ty)]
#[when(extracts)]
pub use self::__module__::{__Type__ApplyConfiguration, __extract__, __extract___from};
#[each(ty)]
#[unless(extracts)]
pub use self::__module__::__Type__ApplyConfiguration;
