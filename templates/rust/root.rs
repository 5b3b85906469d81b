//! __RootDocs__

#![when(module, allow(dead_code, unreachable_pub, reason = "a program need not use everything here"))]

#[when(any_apply)]
pub mod applyconfigurations;
#[when(any_client)]
pub mod clientset;
#[when(any_conversions)]
pub mod conversions;
#[when(any_defaults)]
pub mod defaults;
#[when(any_informer)]
pub mod informers;
#[when(any_lister)]
pub mod listers;
#[when(any_validation)]
#[unless(module)]
#[cfg(feature = "validation")]
pub mod validations;
#[when(any_validation)]
#[when(module)]
pub mod validations;

#[when(any_client)]
pub use self::clientset::Clientset;
#[when(any_informer)]
pub use self::informers::SharedInformerFactory;
