//! The state of an election, for people.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;

use super::core::Election;

/// The state of an election as this candidate knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaseState {
    /// Namespace and name of the lease.
    pub(crate) lease: String,
    /// The identity of this candidate.
    pub(crate) identity: String,
    /// The identity in the lease; empty if nobody holds it, or if it has not been read.
    pub(crate) holder: String,
    /// The last renewal, by the holder's clock.
    pub(crate) renewed: Option<Timestamp>,
    /// The time when this candidate saw that renewal.
    pub(crate) seen: Option<Instant>,
    /// How often the lease has changed hands.
    pub(crate) transitions: i32,
    /// The time until which this candidate leads, if it does.
    pub(crate) leads_until: Option<Instant>,
    /// The failure of the last request.
    pub(crate) last_error: Option<String>,
}

impl LeaseState {
    /// Reports whether this candidate leads now.
    pub(crate) fn leads(&self) -> bool {
        self.leads_until.is_some_and(|until| Instant::now() < until)
    }
}

/// A view of an election. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeaseView(Arc<Mutex<LeaseState>>);

impl LeaseView {
    pub(super) fn new(lease: String, identity: String) -> Self {
        Self(Arc::new(Mutex::new(LeaseState { lease, identity, ..LeaseState::default() })))
    }

    pub(crate) fn get(&self) -> LeaseState {
        self.lock().clone()
    }

    /// Follows the election.
    pub(super) fn update(&self, election: &Election) {
        let mut state = self.lock();
        state.leads_until = election.leads_until().map(Instant::from_std);
        let Some((spec, seen)) = election.seen() else { return };
        state.holder = spec.holder_identity.clone().unwrap_or_default();
        state.renewed = spec.renew_time.as_ref().map(|time| time.0);
        state.transitions = spec.lease_transitions.unwrap_or_default();
        state.seen = Some(Instant::from_std(seen));
    }

    /// Records how the last request ended.
    pub(super) fn answered(&self, error: Option<String>) {
        self.lock().last_error = error;
    }

    fn lock(&self) -> MutexGuard<'_, LeaseState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::client::Body;
    use tokio_util::sync::CancellationToken;

    use super::super::{LeaderCallbacks, LeaderElector};

    #[tokio::test(start_paused = true)]
    async fn request_without_a_response_is_the_last_error() {
        let service = tower::service_fn(|_: http::Request<Body>| {
            std::future::pending::<Result<http::Response<Body>, std::io::Error>>()
        });
        let client = kube::Client::new(service, "default");
        let elector = LeaderElector::builder(client, "default", "lease", "a").build().unwrap();
        let (view, stop) = (elector.view(), CancellationToken::new());
        let callbacks = LeaderCallbacks::new(|_| std::future::pending());
        let run = tokio::spawn(elector.run(callbacks, stop.clone()));
        tokio::time::sleep(Duration::from_secs(9)).await;
        assert_eq!(view.get().last_error, None, "the renew deadline of 10 s is not over");
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(view.get().last_error.as_deref(), Some("the server did not respond in time"));
        stop.cancel();
        run.await.unwrap().unwrap();
    }
}
