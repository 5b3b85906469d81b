//! Shared informers: one watch and one cache per kind, any number of handlers.
//!
//! One task per informer polls the reflector, writes the store and hands changes to the handlers' mailboxes; it
//! owns every other task of the informer. Adding and removing handlers and resyncs are commands to that task, so
//! distribution needs no lock and a late handler sees a consistent beginning. A handler that does not return is reported
//! by a thread that watches all handlers ([`HandlerOptions::call_limit`]).

mod cached_client;
mod calls;
mod deliver;
mod factory;
mod fresh;
mod handler;
mod mailbox;
mod metrics;
mod options;
mod registration;
mod run;
mod shared;
mod sources;
mod unknown;
mod watchdog;
mod writes;

pub use crate::reflector::{Cached, DynamicKind};
pub use cached_client::{CacheOf, CachedClient};
pub use calls::RunningCall;
pub use factory::{CacheSyncError, NotSynced, SharedInformerFactory, SharedInformerFactoryBuilder};
pub use handler::{
    Deleted, EventKind, HandlerOptions, ResourceEventHandler, ResourceEventHandlerFuncs, SlowCall,
};
pub use metrics::InformerState;
pub use options::InformerOptions;
pub use registration::{HandlerRegistration, HandlerState};
pub use shared::{InformerError, SharedInformer};
pub use unknown::UnknownResource;
