//! The reflectors of an informer: one for all namespaces, or one for each selected namespace.

use std::sync::Arc;
use std::task::Poll;

use crate::reflector::{Batch, Form, Reflector, Settings, Traffic};

/// The reflectors, polled by the informer's task.
pub(super) struct Sources {
    all: Vec<Source>,
    /// The reflector to poll first, so that a busy one does not starve the others.
    turn: usize,
}

/// The sources that a reflector lists and watches.
pub(super) struct Scope {
    /// `None` means all namespaces.
    pub(super) namespace: Option<String>,
    pub(super) path: String,
    pub(super) form: Box<dyn Form>,
}

/// A reflector and its progress.
pub(super) struct Source {
    reflector: Reflector,
    namespace: Option<String>,
    has_synced: bool,
    version: String,
    error: Option<String>,
}

impl Source {
    /// Returns the namespace that its lists cover; `None` means all.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Records that a list is complete; returns whether it was the first.
    pub(super) fn sync(&mut self) -> bool {
        !std::mem::replace(&mut self.has_synced, true)
    }

    pub(super) fn set_version(&mut self, version: String) {
        self.version = version;
    }

    pub(super) fn set_error(&mut self, error: Option<String>) {
        self.error = error;
    }
}

impl Sources {
    /// # Panics
    /// Outside a tokio runtime with time enabled.
    pub(super) fn new(
        client: &kube::Client,
        settings: &Settings,
        scopes: Vec<Scope>,
        traffic: &Arc<Traffic>,
    ) -> Self {
        let sources = scopes.into_iter().enumerate().map(|(number, Scope { namespace, path, form })| {
            let mut settings = settings.clone();
            // Reflectors of one informer must not retry at the same moment.
            settings.seed = settings.seed.map(|seed| seed.wrapping_add(number as u64));
            Source {
                reflector: Reflector::new(client.clone(), settings, form, path, Arc::clone(traffic)),
                namespace,
                has_synced: false,
                version: String::new(),
                error: None,
            }
        });
        Self { all: sources.collect(), turn: 0 }
    }

    /// Waits for the next changes of any reflector and returns its index.
    ///
    /// # Cancel safety
    /// As for the reflector: changes are only lost if `batch` is.
    pub(super) async fn next_batch(&mut self, batch: &mut Batch) -> usize {
        std::future::poll_fn(|context| {
            let count = self.all.len();
            for offset in 0..count {
                let number = (self.turn + offset) % count;
                if self.all[number].reflector.poll_next(context, batch).is_ready() {
                    self.turn = number + 1;
                    return Poll::Ready(number);
                }
            }
            Poll::Pending
        })
        .await
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Source> {
        self.all.get_mut(number)
    }

    /// Reports whether the first lists of all reflectors are complete.
    pub(super) fn have_synced(&self) -> bool {
        self.all.iter().all(|source| source.has_synced)
    }

    /// Returns the version that all have reached; `None` before the first sync.
    pub(super) fn version(&self) -> Option<&str> {
        let versions = self.all.iter().map(|source| source.version.as_str());
        versions.min_by_key(|version| (version.len(), *version)).filter(|version| !version.is_empty())
    }

    /// Returns a failure that a reflector has not recovered from.
    pub(super) fn error(&self) -> Option<String> {
        self.all.iter().find_map(|source| source.error.clone())
    }

    /// Drops all requests and connections.
    pub(super) fn close(&mut self) {
        self.all.iter_mut().for_each(|source| source.reflector.close());
    }
}
