//! Shared informers: one watch and one cache per kind, any number of handlers.
//!
//! Each informer has one task, which polls the reflector, writes the store and puts changes into the handlers'
//! mailboxes. It owns all other tasks of the informer. Adding and removing handlers and resyncs are commands to
//! that task, so distribution needs no lock, and a handler that is added late gets a consistent initial list. One
//! thread watches the handlers of all informers and reports those that do not return
//! ([`HandlerOptions::call_limit`]).
//!
//! A factory, an informer and its handlers:
//!
//! ```no_run
//! use std::time::Duration;
//! use k8s_openapi::api::core::v1::Pod;
//! use kubesmith_runtime::cache::Indexer;
//! use kubesmith_runtime::informer::{
//!     CacheShard, CacheSyncError, Deleted, EventKind, HandlerOptions, HandlerRegistration, HandlerState, InformerError,
//!     InformerOptions, InformerState, NotSynced, ResourceEventHandlerFuncs, RunningCall, SharedInformer,
//!     SharedInformerFactory, SharedInformerFactoryBuilder, SlowCall,
//! };
//!
//! fn factory(client: kube::Client) -> SharedInformerFactory {
//!     SharedInformerFactoryBuilder::new(client)
//!         .name("west")
//!         .namespaces(["shop", "billing"])
//!         .resync(Duration::from_secs(600))
//!         .tweak_list_options(|params| params.label_selector = Some("app=web".to_owned()))
//!         .build()
//! }
//!
//! async fn synced(factory: &SharedInformerFactory) -> Result<(), CacheSyncError> {
//!     println!("{:?} {:?} {:?}", factory.name(), factory.namespaces(), factory.states());
//!     let waited = factory.wait_for_cache_sync(Duration::from_secs(30)).await;
//!     for NotSynced { resource, last_error } in waited.as_ref().err().iter().flat_map(|error| &error.not_synced) {
//!         println!("{resource}: {last_error:?}");
//!     }
//!     waited
//! }
//!
//! async fn pods(client: kube::Client) -> Result<(), InformerError> {
//!     let pods = SharedInformer::<Pod>::new(client, InformerOptions::new().namespace("shop"));
//!     pods.set_transform(|pod| pod.metadata.annotations = None)?;
//!     pods.set_watch_error_handler(|error| eprintln!("{error}"))?;
//!     pods.add_indexer(Indexer::new("node", |pod: &Pod| {
//!         pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect()
//!     }))?;
//!     let handler = || {
//!         ResourceEventHandlerFuncs::<Pod>::new()
//!             .on_update(|old, new| println!("{:?} {:?}", old.metadata.name, new.metadata.resource_version))
//!             .on_delete(|deleted: Deleted<Pod>| {
//!                 let is_guess = deleted.is_final_state_unknown();
//!                 println!("{} {is_guess} {:?}", deleted.key(), deleted.object().status);
//!             })
//!     };
//!     let hourly = pods.add_event_handler_with_resync_period(handler(), Duration::from_secs(3600))?;
//!     let slow = HandlerOptions::new().blocking().on_slow_call(|call: &SlowCall| {
//!         let what = if call.event == EventKind::Delete { "deleted" } else { "changed" };
//!         eprintln!("{} has been busy with {} for {:?}: it is {what}", call.handler, call.key, call.running);
//!     });
//!     let slow = pods.add_event_handler_with_options(handler(), slow)?;
//!     pods.start();
//!     hourly.synced().await;
//!     show(&slow);
//!     println!("{} {} {}", pods.resource(), pods.has_synced(), pods.last_sync_resource_version());
//!     println!("{:?} {}", pods.last_error(), pods.undecodable_total());
//!     println!("{} pods", pods.lister().list(&Default::default()).len());
//!     let InformerState { objects, handlers, shard, .. } = pods.state();
//!     if let Some(CacheShard { selector, filters_here, dropped }) = shard {
//!         println!("{selector}: {filters_here} {dropped}");
//!     }
//!     println!("{objects} objects, {} handlers", handlers.len());
//!     pods.remove_event_handler(&hourly)?;
//!     pods.shutdown().await;
//!     assert!(pods.is_stopped());
//!     Ok(())
//! }
//!
//! fn show(handler: &HandlerRegistration) {
//!     println!("{} {} {}", handler.has_synced(), handler.panics(), handler.merged());
//!     let HandlerState { name, waiting, in_call, .. } = handler.state();
//!     if let Some(RunningCall { key, running, .. }) = in_call {
//!         println!("{name} is busy with {key} for {running:?}, {waiting} changes wait");
//!     }
//! }
//! ```

mod cached_client;
mod calls;
mod control;
mod deliver;
mod factory;
mod filter;
mod fresh;
mod handler;
mod kind;
mod mailbox;
mod metrics;
mod options;
mod registration;
mod run;
mod shared;
mod sources;
mod stored;
mod task;
mod unknown;
mod watchdog;
mod writes;

pub use crate::object::{Cached, DynamicKind, DynamicType};
pub use crate::reflector::WatchError;
pub use cached_client::{CacheOf, CachedClient};
pub use calls::RunningCall;
pub use factory::{CacheSyncError, NotSynced, SharedInformerFactory, SharedInformerFactoryBuilder};
pub use filter::FilteringResourceEventHandler;
pub use handler::{
    Deleted, EventKind, HandlerOptions, ResourceEventHandler, ResourceEventHandlerFuncs, SlowCall,
};
pub use kind::KindInformer;
pub use metrics::{CacheShard, InformerState};
pub use options::InformerOptions;
pub use registration::{HandlerRegistration, HandlerState};
pub use shared::{InformerError, SharedInformer};
pub use unknown::UnknownResource;
