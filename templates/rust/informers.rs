//! Shared informers, by group and version, and the factory that owns them.

pub mod factory;
pub mod generic;
#[each(group)]
pub mod __group__;

pub use self::factory::SharedInformerFactory;
pub use self::generic::GenericInformer;
