//! Watches with a test's events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::{Stream, stream};
use kube::core::Status;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::action::Action;
use super::object::Object;
use super::reaction::Reaction;

/// A watch with a test's events: client-go's `watch.FakeWatcher`.
///
/// Events wait until a watch takes them, and each goes to one watch, unlike those of a server. Clones are the same
/// watcher. Its watches continue until [`FakeWatcher::stop`], or until the client closes them, independently of the
/// [fake](super::Fake).
///
/// An informer checks the versions of objects, unlike client-go's: leave them out, or use versions above those that the
/// informer has listed. A lower one means a restored server, after which the informer lists again and only delivers the
/// event if the list has the object.
///
/// ```
/// use futures::StreamExt as _;
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::{Api, Client, api::WatchParams};
/// use kubesmith_testenv::fake::{Fake, FakeWatcher};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let fake = Fake::<Client>::builder().build()?;
/// let watcher = FakeWatcher::new();
/// watcher.add(Pod::default());
/// watcher.stop();
/// fake.prepend_watch_reactor("pods", watcher.reactor());
///
/// let pods: Api<Pod> = Api::all(fake.client());
/// let events = pods.watch(&WatchParams::default(), "0").await?;
/// assert_eq!(events.count().await, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct FakeWatcher(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Bytes>,
    stopped: bool,
}

impl FakeWatcher {
    /// Creates a watcher without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a reactor that responds to watches with this one: client-go's `DefaultWatchReactor`. It refuses to send
    /// initial events, as servers without streaming lists do, so that an informer lists first.
    pub fn reactor(&self) -> impl Fn(&Action) -> Reaction + Send + Sync + 'static {
        let watcher = self.clone();
        move |action| match action.option("sendInitialEvents") {
            Some(_) => Reaction::error(&Status::failure("no list is sent as a watch", "Invalid")),
            None => Reaction::watch(&watcher),
        }
    }

    /// Sends the event of a new object.
    pub fn add(&self, object: impl Into<Object>) {
        self.object("ADDED", &object.into());
    }

    /// Sends the event of a changed object.
    pub fn modify(&self, object: impl Into<Object>) {
        self.object("MODIFIED", &object.into());
    }

    /// Sends the event of a deleted object.
    pub fn delete(&self, object: impl Into<Object>) {
        self.object("DELETED", &object.into());
    }

    /// Sends a bookmark with the version of an object of the watched kind; its other fields are irrelevant.
    pub fn bookmark(&self, object: impl Into<Object>) {
        self.object("BOOKMARK", &object.into());
    }

    /// Sends the event of an error on the server.
    pub fn error(&self, status: &Status) {
        let mut status = serde_json::to_value(status).unwrap_or_default();
        (status["apiVersion"], status["kind"]) = (json!("v1"), json!("Status"));
        self.push("ERROR", &status);
    }

    /// Ends the watches after the pending events; later watches end likewise.
    pub fn stop(&self) {
        self.change(|state| state.stopped = true);
    }

    fn object(&self, kind: &str, object: &Object) {
        match object.value() {
            Ok(value) => self.push(kind, value),
            Err(error) => self.error(&Status::failure(&error.to_string(), "InternalError").with_code(500)),
        }
    }

    fn push(&self, kind: &str, object: &Value) {
        let line = format!("{}\n", json!({"type": kind, "object": object}));
        self.change(|state| state.events.push_back(line.into()));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.changed.notify_waiters();
    }

    /// Returns the next event; `None` when the watch is over.
    async fn next(&self) -> Option<Bytes> {
        loop {
            // Registered before the check, so that no change is missed in between.
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(event) = state.events.pop_front() {
                    return Some(event);
                }
                if state.stopped {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// Returns the events as the body of a watch.
    pub(super) fn into_stream(self) -> impl Stream<Item = Bytes> + Send + 'static {
        stream::unfold(self, |watcher| async move { Some((watcher.next().await?, watcher)) })
    }
}
