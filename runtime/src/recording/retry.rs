//! Retries of writes for a limited time.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Error, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::random::Random;

/// The limit of attempts at a write while the server cannot be reached (client-go's `maxTriesPerEvent`).
const MAX_TRIES: usize = 12;
/// Pause between two tries (client-go's `defaultSleepDuration`).
const RETRY_SLEEP: Duration = Duration::from_secs(10);

/// The result of a try.
enum Tried<T> {
    Stored(T),
    /// The server refuses the event, now and later.
    Refused(Error),
    /// The server could not be reached or is overloaded.
    Unreachable(Error),
}

impl<T> From<Result<T, Error>> for Tried<T> {
    fn from(result: Result<T, Error>) -> Self {
        match result {
            Ok(event) => Tried::Stored(event),
            // Rate limits and server errors pass; any other response stays the same.
            Err(Error::Api(status)) if status.code != 429 && status.code < 500 => {
                Tried::Refused(Error::Api(status))
            }
            Err(error) => Tried::Unreachable(error),
        }
    }
}

/// Applies `changes` to the event, or creates it if there are none or if it no longer exists. If it exists already,
/// an earlier creation succeeded although its response was lost.
async fn attempt<E>(api: &Api<E>, event: &E, changes: &mut Option<Value>) -> Tried<E>
where
    E: Resource + Clone + Serialize + DeserializeOwned + fmt::Debug,
{
    if let Some(changed) = changes {
        let name = event.meta().name.as_deref().unwrap_or_default();
        match api.patch(name, &PatchParams::default(), &Patch::Merge(changed)).await {
            Err(Error::Api(status)) if status.code == 404 => *changes = None,
            result => return result.into(),
        }
    }
    match api.create(&PostParams::default(), event).await {
        Err(Error::Api(status)) if status.is_already_exists() => Tried::Stored(event.clone()),
        result => result.into(),
    }
}

/// Decides when to retry, and counts dropped events.
pub(crate) struct Retry {
    random: Random,
    /// Cancelled when waiting is no longer useful.
    stop: CancellationToken,
    lost: Arc<AtomicU64>,
}

impl Retry {
    pub(crate) fn new(random: Random, stop: CancellationToken, lost: Arc<AtomicU64>) -> Self {
        Self { random, stop, lost }
    }

    /// Creates the event, or applies changes to it. Returns the stored event, or `None` if the event was dropped.
    pub(crate) async fn write<E>(
        &mut self,
        client: &Client,
        event: &E,
        reason: &str,
        mut changes: Option<Value>,
    ) -> Option<E>
    where
        E: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        E: Clone + Serialize + DeserializeOwned + fmt::Debug,
    {
        let namespace = event.meta().namespace.as_deref().unwrap_or("default");
        let api: Api<E> = Api::namespaced(client.clone(), namespace);
        let mut number = 1;
        loop {
            let tried = attempt(&api, event, &mut changes).await;
            if let ControlFlow::Break(stored) = self.settle(number, reason, tried).await {
                return stored;
            }
            number += 1;
        }
    }

    /// Evaluates try number `number`, from 1, and waits if another one follows. Breaks with the stored event, or
    /// with `None` if the event was dropped and counted.
    async fn settle<T>(&mut self, number: usize, reason: &str, tried: Tried<T>) -> ControlFlow<Option<T>> {
        match tried {
            Tried::Stored(stored) => return ControlFlow::Break(Some(stored)),
            Tried::Refused(error) => tracing::warn!(reason, %error, "the server refused an event"),
            Tried::Unreachable(error) if number >= MAX_TRIES || self.stop.is_cancelled() => {
                tracing::error!(reason, number, %error, "cannot write an event, it is lost");
            }
            Tried::Unreachable(error) => {
                tracing::debug!(reason, number, %error, "cannot write an event, trying again");
                self.pause(number).await;
                return ControlFlow::Continue(());
            }
        }
        self.lost.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Break(None)
    }

    async fn pause(&mut self, number: usize) {
        // The first pause is random, so that clients do not retry at the same moment.
        let share = if number == 1 { (self.random)() } else { 1.0 };
        tokio::select! {
            biased;
            () = tokio::time::sleep(RETRY_SLEEP.mul_f64(share.clamp(0.0, 1.0))) => {}
            () = self.stop.cancelled() => {}
        }
    }
}
