//! The part of an informer that is not generic over its objects: lifecycle, status and commands. It is compiled
//! once.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kubesmith_apimachinery::sharding::ShardSelector;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::mailbox::Mailbox;
use super::registration::{HandlerRegistration, HandlerStatus, KnownHandlers};
use super::run::Command;
use super::writes::Writes;
use super::{HandlerOptions, InformerError, ResourceEventHandler, task};
use crate::object::KindFacts;
use crate::reflector::{Object, Traffic};

/// An informer without the type of its objects.
pub(super) struct Control {
    pub(super) resource: String,
    pub(super) facts: KindFacts,
    /// [`Cached::form`](crate::object::Cached::form).
    pub(super) form: &'static str,
    pub(super) selection: Selection,
    /// The cache.
    pub(super) contents: Box<dyn Contents>,
    commands: mpsc::UnboundedSender<Command>,
    pub(super) status: Arc<Status>,
    next_handler: AtomicU64,
    /// The writes of clients that read from this cache.
    pub(super) writes: Writes,
    /// Locked for a change of state, never across an await or a callback.
    lifecycle: Mutex<Lifecycle>,
}

/// The objects that the cache contains, as far as it is known of an object that is not in it.
pub(super) struct Selection {
    /// Empty means all.
    pub(super) namespaces: Vec<String>,
    /// `None` means all.
    pub(super) shards: Option<ShardSelector>,
}

/// The facts about a cache of any kind.
pub(super) trait Contents: Send + Sync {
    fn len(&self) -> usize;
    fn resource_version(&self) -> String;
    fn undecodable(&self) -> usize;
}

/// The parts that the informer's task will own.
pub(super) trait Setup: Send {
    /// Makes the task.
    ///
    /// # Panics
    /// Outside a tokio runtime with time enabled.
    fn work(self: Box<Self>, status: Arc<Status>) -> task::Work;

    fn as_any(&mut self) -> &mut dyn Any;
}

enum Lifecycle {
    New(Box<dyn Setup>),
    Running(JoinHandle<()>),
    Stopped,
}

/// State that the informer's task shares with its handles.
pub(super) struct Status {
    pub(super) synced: watch::Sender<bool>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) stopped: watch::Sender<bool>,
    pub(super) last_error: Mutex<Option<String>>,
    pub(super) undecodable: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) traffic: Arc<Traffic>,
    pub(super) handlers: KnownHandlers,
    /// Notified after each change of the store.
    pub(super) applied: watch::Sender<()>,
}

impl Control {
    pub(super) fn new(
        (facts, form): (KindFacts, &'static str),
        selection: Selection,
        contents: Box<dyn Contents>,
        commands: mpsc::UnboundedSender<Command>,
        setup: Box<dyn Setup>,
    ) -> Self {
        Self {
            resource: facts.resource_name(),
            facts,
            form,
            selection,
            contents,
            commands,
            status: Arc::new(Status::new()),
            next_handler: AtomicU64::new(0),
            writes: Writes::default(),
            lifecycle: Mutex::new(Lifecycle::New(setup)),
        }
    }

    /// Reports whether the cache follows an object with these fields.
    pub(super) fn follows(&self, uid: &str, namespace: &str) -> bool {
        let Selection { namespaces, shards } = &self.selection;
        (namespaces.is_empty() || namespaces.iter().any(|followed| followed == namespace))
            && shards.as_ref().is_none_or(|shards| shards.matches(uid, namespace))
    }

    pub(super) fn add_handler(
        &self,
        handler: Arc<dyn ResourceEventHandler<dyn Object>>,
        options: HandlerOptions,
    ) -> Result<HandlerRegistration, InformerError> {
        let id = self.next_handler.fetch_add(1, Ordering::Relaxed);
        let mailbox = Arc::new(Mailbox::new(options.queue_limit));
        let resync = options.resync;
        let totals = &self.status.handlers.totals;
        let status = Arc::new(HandlerStatus::new(&self.resource, id, options, &mailbox, totals));
        let command = Command::Add { id, handler, mailbox, status: Arc::clone(&status), resync };
        self.commands.send(command).map_err(|_| self.stopped())?;
        Ok(HandlerRegistration { id, status })
    }

    pub(super) fn remove_handler(&self, registration: &HandlerRegistration) -> Result<(), InformerError> {
        registration.status.removed.store(true, Ordering::Release);
        self.commands.send(Command::Remove { id: registration.id }).map_err(|_| self.stopped())
    }

    /// Changes the things that the task will own, unless it has started.
    pub(super) fn configure(
        &self,
        setting: &'static str,
        change: impl FnOnce(&mut dyn Any),
    ) -> Result<(), InformerError> {
        match &mut *self.lifecycle() {
            Lifecycle::New(setup) => {
                change(setup.as_any());
                Ok(())
            }
            _ => Err(InformerError::Started { resource: self.resource.clone(), setting }),
        }
    }

    pub(super) fn start(&self) {
        let mut lifecycle = self.lifecycle();
        if !matches!(*lifecycle, Lifecycle::New(_)) {
            return;
        }
        let Lifecycle::New(setup) = std::mem::replace(&mut *lifecycle, Lifecycle::Stopped) else { return };
        *lifecycle = Lifecycle::Running(task::spawn(setup.work(Arc::clone(&self.status))));
    }

    pub(super) async fn shutdown(&self) {
        let running = {
            let mut lifecycle = self.lifecycle();
            self.status.stop.send_replace(true);
            match &*lifecycle {
                Lifecycle::New(_) => {
                    *lifecycle = Lifecycle::Stopped;
                    false
                }
                Lifecycle::Running(task) => !task.is_finished(),
                Lifecycle::Stopped => false,
            }
        };
        if running {
            let mut stopped = self.status.stopped.subscribe();
            // An error means that the task has ended, which is what this waits for.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        }
    }

    pub(super) fn is_started(&self) -> bool {
        !matches!(*self.lifecycle(), Lifecycle::New(_))
    }

    pub(super) fn is_stopped(&self) -> bool {
        *self.status.stop.borrow()
    }

    pub(super) fn has_synced(&self) -> bool {
        *self.status.synced.borrow()
    }

    pub(super) async fn wait_for_sync(&self, timeout: Duration) -> Result<(), InformerError> {
        let mut synced = self.status.synced.subscribe();
        let mut stop = self.status.stop.subscribe();
        let waited = tokio::time::timeout(timeout, async {
            tokio::select! {
                biased;
                _ = synced.wait_for(|synced| *synced) => true,
                _ = stop.wait_for(|stop| *stop) => false,
            }
        });
        match waited.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.stopped()),
            Err(_) => Err(InformerError::NotSynced {
                resource: self.resource.clone(),
                waited: timeout,
                last_error: self.last_error(),
            }),
        }
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.status.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn stopped(&self) -> InformerError {
        InformerError::Stopped { resource: self.resource.clone() }
    }

    fn lifecycle(&self) -> MutexGuard<'_, Lifecycle> {
        self.lifecycle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.status.stop.send_replace(true);
        if let Lifecycle::Running(task) = &*self.lifecycle.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

impl Status {
    fn new() -> Self {
        Self {
            synced: watch::Sender::new(false),
            stop: watch::Sender::new(false),
            stopped: watch::Sender::new(false),
            last_error: Mutex::new(None),
            undecodable: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            traffic: Arc::default(),
            handlers: KnownHandlers::default(),
            applied: watch::Sender::new(()),
        }
    }

    pub(super) fn set_last_error(&self, error: Option<String>) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}
