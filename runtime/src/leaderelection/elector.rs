//! The shell of the election: requests to the API server, the leader's work, callbacks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::OptionFuture;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, PostParams};
use kube::{Client, Error};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::core::{Answer, Election, ElectionTimes, Input, InvalidElection, Notice, Request};
use super::error::LeaderElectionError;
use super::view::LeaseView;
use crate::metrics::{Counter, Gauge, Registry};
use crate::random::{self, Random};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Callbacks for changes of the leader.
pub struct LeaderCallbacks {
    started: Box<dyn FnOnce(Leadership) -> BoxFuture<()> + Send>,
    stopped: Box<dyn FnOnce() + Send>,
    new_leader: Box<dyn FnMut(&str) + Send>,
}

impl LeaderCallbacks {
    /// Runs `on_started_leading` when this candidate becomes the leader. It must end when its [`Leadership`] ends;
    /// otherwise it is aborted before another candidate can lead.
    pub fn new<F, Fut>(on_started_leading: F) -> Self
    where
        F: FnOnce(Leadership) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        LeaderCallbacks {
            started: Box::new(|leadership| Box::pin(on_started_leading(leadership))),
            stopped: Box::new(|| {}),
            new_leader: Box::new(|_| {}),
        }
    }

    /// Sets the callback for the end of a run, even if this candidate never led.
    #[must_use]
    pub fn on_stopped_leading(mut self, callback: impl FnOnce() + Send + 'static) -> Self {
        self.stopped = Box::new(callback);
        self
    }

    /// Sets the callback for each new leader, including this candidate.
    #[must_use]
    pub fn on_new_leader(mut self, callback: impl FnMut(&str) + Send + 'static) -> Self {
        self.new_leader = Box::new(callback);
        self
    }
}

/// The leader's view of its leadership.
#[derive(Clone, Debug)]
pub struct Leadership {
    ended: CancellationToken,
    term: Arc<Mutex<Term>>,
}

#[derive(Clone, Copy, Debug)]
struct Term {
    transitions: i32,
    valid_until: Instant,
}

impl Leadership {
    /// Waits until the leadership has ended or is about to end, so that the work must end.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Returns a token that is cancelled when the work must end, for controllers.
    pub fn token(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// Reports whether the lease is held now. Unlike [`ended`](Self::ended) this checks the clock, so it is correct
    /// even after the process was suspended.
    pub fn is_valid(&self) -> bool {
        Instant::now() < self.term().valid_until
    }

    /// Returns how often the lease has changed hands. The number grows with each new leader, so that late writes of
    /// a former leader can be recognised.
    pub fn transitions(&self) -> i32 {
        self.term().transitions
    }

    fn term(&self) -> Term {
        *self.term.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A candidate in an election.
pub struct LeaderElector {
    api: Api<Lease>,
    namespace: String,
    name: String,
    identity: String,
    times: ElectionTimes,
    release_on_cancel: bool,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: Random,
    metrics: Option<Metrics>,
    view: LeaseView,
}

/// Settings of a [`LeaderElector`].
pub struct LeaderElectorBuilder {
    elector: LeaderElector,
}

impl LeaderElectorBuilder {
    /// Sets the times; client-go's by default.
    #[must_use]
    pub fn times(mut self, times: ElectionTimes) -> Self {
        self.elector.times = times;
        self
    }

    /// Sets whether a stopped leader releases the lease, so that others need not wait for it to expire. It does by
    /// default.
    #[must_use]
    pub fn release_on_cancel(mut self, release: bool) -> Self {
        self.elector.release_on_cancel = release;
        self
    }

    /// Registers the metrics `leader_election_master_status` and `leader_election_slowpath_total` in `registry`.
    #[must_use]
    pub fn metrics(mut self, registry: &Registry) -> Self {
        let labels = [("name", &*self.elector.name)];
        let status = registry.gauge(
            "leader_election_master_status",
            "Whether the reporting system leads the lease: 0 is backup, 1 is leader",
            &labels,
        );
        let slow_paths = registry.counter(
            "leader_election_slowpath_total",
            "Total number of renewals for which the leader had to read the lease first",
            &labels,
        );
        self.elector.metrics = Some(Metrics { status, slow_paths });
        self
    }

    /// Sets the wall clock that is written into the lease; the system's by default. No decision depends on it.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.elector.clock = Box::new(clock);
        self
    }

    /// Sets the source of the jitter: numbers in `0.0..1.0`.
    #[must_use]
    pub fn random(mut self, random: impl FnMut() -> f64 + Send + 'static) -> Self {
        self.elector.random = Box::new(random);
        self
    }

    /// Makes the elector.
    ///
    /// # Errors
    ///
    /// [`InvalidElection`] if two leaders could overlap with these times, or if a name is missing.
    pub fn build(self) -> Result<LeaderElector, InvalidElection> {
        let elector = self.elector;
        elector.times.check()?;
        if elector.identity.is_empty() {
            return Err(InvalidElection::Identity);
        }
        if elector.name.is_empty() || elector.namespace.is_empty() {
            return Err(InvalidElection::Lease);
        }
        Ok(elector)
    }
}

impl LeaderElector {
    /// Starts the settings of a candidate for the lease `name` in `namespace`. Each candidate needs another
    /// `identity`.
    pub fn builder(
        client: Client,
        namespace: impl Into<String>,
        name: impl Into<String>,
        identity: impl Into<String>,
    ) -> LeaderElectorBuilder {
        let (namespace, name, identity) = (namespace.into(), name.into(), identity.into());
        LeaderElectorBuilder {
            elector: LeaderElector {
                api: Api::namespaced(client, &namespace),
                view: LeaseView::new(format!("{namespace}/{name}"), identity.clone()),
                namespace,
                name,
                identity,
                times: ElectionTimes::default(),
                release_on_cancel: true,
                clock: Box::new(Timestamp::now),
                random: random::from_system(),
                metrics: None,
            },
        }
    }

    /// Returns a view of the election, for people.
    pub(crate) fn view(&self) -> LeaseView {
        self.view.clone()
    }

    /// Waits for the lease, leads, and returns when the leadership has ended.
    ///
    /// When `stop` is cancelled, the leader's work is asked to end. The lease is renewed until it has ended, and
    /// then released. If the lease is lost, the work is asked to end, and aborted before another candidate can
    /// lead.
    ///
    /// # Errors
    ///
    /// [`LeaderElectionError`] if the leadership was lost or the work panicked. A program usually exits then and is
    /// restarted as a candidate.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the work and does not release the lease.
    pub async fn run(
        self,
        callbacks: LeaderCallbacks,
        stop: CancellationToken,
    ) -> Result<(), LeaderElectionError> {
        let lease = format!("{}/{}", self.namespace, self.name);
        let identity = self.identity.clone();
        let LeaderCallbacks { started, stopped, new_leader } = callbacks;
        if let Some(metrics) = &self.metrics {
            metrics.status.set(0.0);
        }
        let mut run = Run::new(self, started, new_leader);
        let outcome = run.run(&stop).await;
        if let Some(metrics) = &run.metrics {
            metrics.status.set(0.0);
        }
        stopped();
        match outcome {
            Outcome::Stopped => Ok(()),
            Outcome::Lost => Err(LeaderElectionError::Lost { lease, identity }),
            Outcome::Panicked(message) => Err(LeaderElectionError::Panicked { lease, identity, message }),
        }
    }
}

/// The metrics of an election, under client-go's names.
struct Metrics {
    status: Gauge,
    slow_paths: Counter,
}

enum Outcome {
    Stopped,
    Lost,
    Panicked(String),
}

/// The leader's work; aborted if the run is dropped.
struct Work {
    task: JoinHandle<()>,
    leadership: Leadership,
    has_ended: bool,
}

impl Drop for Work {
    fn drop(&mut self) {
        self.leadership.ended.cancel();
        self.task.abort();
    }
}

/// The state of a run.
struct Run {
    api: Arc<Api<Lease>>,
    name: Arc<str>,
    election: Election,
    release_on_cancel: bool,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    metrics: Option<Metrics>,
    view: LeaseView,
    /// Taken when the leadership begins.
    started: Option<Box<dyn FnOnce(Leadership) -> BoxFuture<()> + Send>>,
    new_leader: Box<dyn FnMut(&str) + Send>,
    request: Option<BoxFuture<Answer>>,
    work: Option<Work>,
    panic: Option<String>,
}

enum RunEvent {
    Input(Input),
    StopWanted,
    WorkEnded(Result<(), tokio::task::JoinError>),
}

impl Run {
    fn new(
        elector: LeaderElector,
        started: Box<dyn FnOnce(Leadership) -> BoxFuture<()> + Send>,
        new_leader: Box<dyn FnMut(&str) + Send>,
    ) -> Self {
        let lease = (elector.namespace, elector.name.clone());
        let now = Instant::now().into_std();
        Run {
            api: Arc::new(elector.api),
            name: elector.name.into(),
            election: Election::new(now, lease, elector.identity, elector.times, elector.random),
            release_on_cancel: elector.release_on_cancel,
            clock: elector.clock,
            metrics: elector.metrics,
            view: elector.view,
            started: Some(started),
            new_leader,
            request: None,
            work: None,
            panic: None,
        }
    }

    async fn run(&mut self, stop: &CancellationToken) -> Outcome {
        let mut stopping = false;
        self.step(Input::Tick);
        while !self.election.has_ended() {
            match self.next(stop, stopping).await {
                RunEvent::Input(input) => self.step(input),
                RunEvent::StopWanted => {
                    stopping = true;
                    match &self.work {
                        // Hold the lease until the work has ended.
                        Some(work) if !work.has_ended => work.leadership.ended.cancel(),
                        _ => self.release(),
                    }
                }
                RunEvent::WorkEnded(result) => {
                    if let Some(work) = &mut self.work {
                        work.has_ended = true;
                    }
                    if let Err(error) = result {
                        self.panic = Some(error.to_string());
                    }
                    if stopping || self.panic.is_some() {
                        self.release();
                    }
                }
            }
        }
        self.end_work().await;
        match self.panic.take() {
            Some(message) => Outcome::Panicked(message),
            None if stopping => Outcome::Stopped,
            None => Outcome::Lost,
        }
    }

    async fn next(&mut self, stop: &CancellationToken, stopping: bool) -> RunEvent {
        let wake_at = Instant::from_std(self.election.wake_at());
        let work = self.work.as_mut().filter(|work| !work.has_ended);
        let work = OptionFuture::from(work.map(|work| &mut work.task));
        let request = OptionFuture::from(self.request.as_mut());
        tokio::select! {
            biased;
            Some(answer) = request => {
                self.request = None;
                RunEvent::Input(Input::Answer(answer))
            }
            Some(result) = work => RunEvent::WorkEnded(result),
            () = stop.cancelled(), if !stopping => RunEvent::StopWanted,
            () = sleep_until(wake_at) => RunEvent::Input(Input::Tick),
        }
    }

    fn release(&mut self) {
        if self.release_on_cancel {
            self.step(Input::Release);
        } else {
            self.election.abandon();
        }
    }

    fn step(&mut self, input: Input) {
        let is_tick = matches!(input, Input::Tick);
        let step = self.election.on(Instant::now().into_std(), (self.clock)(), input);
        // Only time makes the election drop a request that is in flight: for another one, or at the end of the leadership.
        if is_tick && (step.send.is_some() || self.election.has_ended()) && self.request.take().is_some() {
            tracing::warn!(
                lease = &*self.name,
                "the server did not respond to a request for the lease in time"
            );
            self.view.answered(Some("the server did not respond in time".to_owned()));
        }
        if let Some(request) = step.send {
            let view = self.view.clone();
            self.request = Some(Box::pin(ask(self.api.clone(), self.name.clone(), view, request)));
        }
        self.view.update(&self.election);
        if let Some(metrics) = self.metrics.as_ref().filter(|_| step.is_slow_path) {
            metrics.slow_paths.inc();
        }
        for notice in step.notices {
            match notice {
                Notice::Started => self.start_work(),
                Notice::Stopped => tracing::info!(lease = &*self.name, "leadership ended"),
                Notice::Leader(identity) => {
                    tracing::info!(lease = &*self.name, identity, "new leader");
                    (self.new_leader)(&identity);
                }
            }
        }
        if let Some(work) = &self.work {
            let mut term = work.leadership.term.lock().unwrap_or_else(PoisonError::into_inner);
            term.valid_until = Instant::from_std(self.election.renew_by());
            if self.election.has_ended() {
                term.valid_until = term.valid_until.min(Instant::now());
            }
        }
    }

    fn start_work(&mut self) {
        let Some(started) = self.started.take() else { return };
        if let Some(metrics) = &self.metrics {
            metrics.status.set(1.0);
        }
        let term = Term {
            transitions: self.election.transitions(),
            valid_until: Instant::from_std(self.election.renew_by()),
        };
        let leadership = Leadership { ended: CancellationToken::new(), term: Arc::new(Mutex::new(term)) };
        tracing::info!(lease = &*self.name, transitions = term.transitions, "leading");
        self.work =
            Some(Work { task: tokio::spawn(started(leadership.clone())), leadership, has_ended: false });
    }

    /// Gives the work the rest of the time before another candidate can lead.
    async fn end_work(&mut self) {
        let Some(mut work) = self.work.take() else { return };
        work.leadership.ended.cancel();
        if work.has_ended {
            return;
        }
        let deadline = Instant::from_std(self.election.lease_ends());
        if timeout_at(deadline, &mut work.task).await.is_err() {
            tracing::error!(lease = &*self.name, "the leader's work did not end in time and is aborted");
            work.task.abort();
            // Wait for the end of the task; its cause is known.
            let _ = (&mut work.task).await;
        }
    }
}

async fn ask(api: Arc<Api<Lease>>, name: Arc<str>, view: LeaseView, request: Request) -> Answer {
    let result = match request {
        Request::Get => api.get(&name).await,
        Request::Create(lease) => api.create(&PostParams::default(), &lease).await,
        Request::Update(lease) => api.replace(&name, &PostParams::default(), &lease).await,
    };
    view.answered(result.as_ref().err().map(ToString::to_string));
    match result {
        Ok(lease) => Answer::Lease(Box::new(lease)),
        Err(Error::Api(status)) if status.code == 404 => Answer::NotFound,
        Err(error) => {
            tracing::warn!(lease = &*name, %error, "cannot read or write the lease");
            Answer::Failed
        }
    }
}

impl fmt::Debug for LeaderElector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderElector")
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("identity", &self.identity)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for LeaderElectorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elector.fmt(f)
    }
}

impl fmt::Debug for LeaderCallbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderCallbacks").finish_non_exhaustive()
    }
}
