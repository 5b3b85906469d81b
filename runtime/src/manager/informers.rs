//! The informers of a manager: those of its own factory and of added ones.

use std::time::Duration;

use futures::future::join_all;

use crate::informer::{CacheSyncError, InformerState, SharedInformerFactory};

/// Factories that are started, awaited and shut down together.
#[derive(Clone)]
pub(super) struct Informers(pub(super) Vec<SharedInformerFactory>);

impl Informers {
    pub(super) fn start(&self) {
        self.0.iter().for_each(SharedInformerFactory::start);
    }

    /// The error names every incomplete cache, and the factory if all are of the same one.
    pub(super) async fn wait_for_cache_sync(&self, timeout: Duration) -> Result<(), CacheSyncError> {
        let results = join_all(self.0.iter().map(|factory| factory.wait_for_cache_sync(timeout))).await;
        let errors = results.into_iter().filter_map(Result::err);
        let all = errors.reduce(|mut all, error| {
            all.factory = all.factory.filter(|name| error.factory.as_ref() == Some(name));
            all.not_synced.extend(error.not_synced);
            all
        });
        all.map_or(Ok(()), Err)
    }

    pub(super) fn states(&self) -> Vec<InformerState> {
        self.0.iter().flat_map(SharedInformerFactory::states).collect()
    }

    pub(super) async fn shutdown(&self) {
        join_all(self.0.iter().map(SharedInformerFactory::shutdown)).await;
    }
}
