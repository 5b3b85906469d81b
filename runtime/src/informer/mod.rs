//! Shared informers: one watch and one cache per kind, any number of handlers.
//!
//! One task per informer polls the reflector, writes the store and hands changes to the handlers' mailboxes; it
//! owns every other task of the informer. Adding and removing handlers and resyncs are commands to that task, so
//! distribution needs no lock and a late handler sees a consistent beginning.

mod factory;
mod fresh;
mod handler;
mod mailbox;
mod metrics;
mod registration;
mod run;
mod shared;
mod sources;
mod unknown;

pub use crate::reflector::{Cached, DynamicKind};
pub use factory::{CacheSyncError, NotSynced, SharedInformerFactory, SharedInformerFactoryBuilder};
pub use handler::{Deleted, HandlerOptions, ResourceEventHandler, ResourceEventHandlerFuncs};
pub use metrics::InformerState;
pub use registration::HandlerRegistration;
pub use shared::{InformerError, InformerOptions, SharedInformer};
pub use unknown::UnknownResource;
