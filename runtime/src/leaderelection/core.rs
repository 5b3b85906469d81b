//! The election without I/O: decides when to read, when to write, and who leads.
//!
//! Inputs are ticks, responses and the request to stop, each with the monotonic time. Outputs are requests to send,
//! the time of the next tick and the changes. The wall clock is only written into the Lease, never compared.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

/// The jitter of tries, as a share of the retry period (client-go's `JitterFactor`).
const JITTER_FACTOR: f64 = 1.2;

/// The times of an election. The defaults are client-go's: 15 s, 10 s, 2 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTimes {
    /// The time after the last renewal that others saw before they take over the lease.
    pub lease_duration: Duration,
    /// The time that the leader continues without a successful renewal.
    pub renew_deadline: Duration,
    /// Pause between two tries.
    pub retry_period: Duration,
}

impl Default for ElectionTimes {
    fn default() -> Self {
        ElectionTimes {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// With these times two leaders could overlap. [`InvalidElection`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the lease duration ({:?}) must exceed the renew deadline ({:?}), the renew deadline must exceed 1.2 times the retry period ({:?}), and the lease duration must be whole seconds",
    .0.lease_duration, .0.renew_deadline, .0.retry_period
)]
pub struct InvalidTimes(pub ElectionTimes);

/// An elector cannot be made.
///
/// ```no_run
/// use std::time::Duration;
/// use kubesmith_runtime::leaderelection::{ElectionTimes, InvalidElection, InvalidTimes, LeaderElector};
///
/// # fn example(client: kube::Client) {
/// let nobody = LeaderElector::builder(client.clone(), "default", "my-operator", "").build();
/// assert!(matches!(nobody, Err(InvalidElection::Identity)));
///
/// let short = ElectionTimes { lease_duration: Duration::from_secs(1), ..ElectionTimes::default() };
/// let refused = LeaderElector::builder(client, "default", "my-operator", "pod-7f9c").times(short).build();
/// assert!(matches!(refused, Err(InvalidElection::Times(InvalidTimes(times))) if times == short));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidElection {
    /// With these times two leaders could overlap.
    #[error(transparent)]
    Times(#[from] InvalidTimes),
    /// The identity is empty. A lease without a holder is free, so two such candidates could lead at once.
    #[error("a candidate needs a unique identity, such as the result of default_identity")]
    Identity,
    /// The lease has no name or namespace.
    #[error("the lease needs a name and a namespace")]
    Lease,
}

impl ElectionTimes {
    pub(crate) fn check(self) -> Result<Self, InvalidTimes> {
        let ElectionTimes { lease_duration, renew_deadline, retry_period } = self;
        let ordered = lease_duration > renew_deadline && renew_deadline > retry_period.mul_f64(JITTER_FACTOR);
        let written = lease_duration.subsec_nanos() == 0 && i32::try_from(lease_duration.as_secs()).is_ok();
        if ordered && written && !retry_period.is_zero() { Ok(self) } else { Err(InvalidTimes(self)) }
    }
}

/// A request for the shell to send. An update carries the resource version that it replaces.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Get,
    Create(Box<Lease>),
    Update(Box<Lease>),
}

/// The response to a request.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// The lease as read or written.
    Lease(Box<Lease>),
    NotFound,
    /// The request was refused, did not arrive, or lost a race with another writer.
    Failed,
}

#[derive(Clone, Debug)]
pub(super) enum Input {
    /// Time has passed.
    Tick,
    Answer(Answer),
    /// Release the lease and end.
    Release,
}

/// A change to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Started,
    Stopped,
    /// This candidate or another one leads.
    Leader(String),
}

/// The shell's next step.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The request to send; an older one in flight is dropped.
    pub(super) send: Option<Request>,
    /// The leader had to read the lease before it renews it.
    pub(super) is_slow_path: bool,
    pub(super) notices: Vec<Notice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Candidate,
    Leading,
    /// Releases the lease after the leader's work has ended.
    Releasing,
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    sent: Instant,
    is_write: bool,
}

#[derive(Debug)]
struct Observed {
    lease: Lease,
    /// The time when this record was first seen, on our clock.
    at: Instant,
}

/// One candidate.
pub(super) struct Election {
    namespace: String,
    name: String,
    identity: String,
    times: ElectionTimes,
    phase: Phase,
    observed: Option<Observed>,
    reported: Option<String>,
    in_flight: Option<InFlight>,
    next_try: Instant,
    /// The time when the last successful renewal was sent, not that of its response, because it may have been written
    /// at any time in between.
    renewed: Instant,
    release_wanted: bool,
    /// Another candidate holds the lease although ours had not expired.
    taken: bool,
    random: crate::random::Random,
}

impl Election {
    pub(super) fn new(
        now: Instant,
        (namespace, name): (String, String),
        identity: String,
        times: ElectionTimes,
        random: crate::random::Random,
    ) -> Self {
        Election {
            namespace,
            name,
            identity,
            times,
            phase: Phase::Candidate,
            observed: None,
            reported: None,
            in_flight: None,
            next_try: now,
            renewed: now,
            release_wanted: false,
            taken: false,
            random,
        }
    }

    /// Reports whether this candidate's work may run at `now`, even if a tick is late.
    #[cfg(test)]
    pub(super) fn leads(&self, now: Instant) -> bool {
        self.phase == Phase::Leading && now < self.renew_by()
    }

    /// Returns the time until which this candidate leads, if it does.
    pub(super) fn leads_until(&self) -> Option<Instant> {
        (self.phase == Phase::Leading).then(|| self.renew_by())
    }

    /// Returns the last record of the lease, and the time when it was first seen.
    pub(super) fn seen(&self) -> Option<(&LeaseSpec, Instant)> {
        Some((self.spec()?, self.observed.as_ref()?.at))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Returns when the leadership ends unless a further renewal succeeds.
    pub(super) fn renew_by(&self) -> Instant {
        self.renewed + self.times.renew_deadline
    }

    /// Returns the time before which no other candidate takes the lease.
    pub(super) fn lease_ends(&self) -> Instant {
        if self.taken { self.renewed } else { self.renewed + self.times.lease_duration }
    }

    /// Returns how often the lease has changed hands.
    pub(super) fn transitions(&self) -> i32 {
        self.spec().and_then(|spec| spec.lease_transitions).unwrap_or(0)
    }

    /// Returns when the next tick is due.
    pub(super) fn wake_at(&self) -> Instant {
        let attempt = match self.in_flight {
            Some(in_flight) => in_flight.sent + self.times.renew_deadline,
            None => self.next_try,
        };
        if self.phase == Phase::Candidate { attempt } else { attempt.min(self.renew_by()) }
    }

    /// Handles an input that happened at `now` (`wall` by the wall clock).
    pub(super) fn on(&mut self, now: Instant, wall: Timestamp, input: Input) -> Step {
        let mut step = Step::default();
        if self.phase == Phase::Ended {
            return step;
        }
        if matches!(self.phase, Phase::Leading | Phase::Releasing) && now >= self.renew_by() {
            self.end(&mut step);
            return step;
        }
        match input {
            Input::Tick => self.tick(now, wall, &mut step),
            Input::Answer(answer) => self.answer(now, wall, answer, &mut step),
            Input::Release => self.release(now, wall, &mut step),
        }
        step
    }

    fn tick(&mut self, now: Instant, wall: Timestamp, step: &mut Step) {
        if let Some(in_flight) = self.in_flight {
            if now < in_flight.sent + self.times.renew_deadline {
                return;
            }
            self.in_flight = None;
            self.next_try = now;
        }
        if now < self.next_try {
            return;
        }
        let renewal = if self.phase == Phase::Leading { self.renewal(wall) } else { None };
        self.send(now, renewal.unwrap_or(Request::Get), step);
    }

    fn answer(&mut self, now: Instant, wall: Timestamp, answer: Answer, step: &mut Step) {
        let Some(in_flight) = self.in_flight.take() else { return };
        if self.phase == Phase::Releasing {
            return self.end(step);
        }
        match answer {
            Answer::Lease(lease) if in_flight.is_write => self.written(now, in_flight.sent, *lease, step),
            Answer::Lease(lease) => {
                self.observe(now, *lease, step);
                if self.is_held_by_another(now) {
                    if self.phase != Phase::Leading {
                        return self.pause(now);
                    }
                    self.taken = true;
                    return self.end(step);
                }
                if let Some(request) = self.take_over(wall) {
                    step.is_slow_path = self.phase == Phase::Leading;
                    self.send(now, request, step);
                }
            }
            Answer::NotFound if !in_flight.is_write => {
                let lease = self.fresh(wall);
                self.send(now, Request::Create(Box::new(lease)), step);
            }
            // The lease as it is now decides, so read it.
            Answer::NotFound | Answer::Failed if self.phase == Phase::Leading && in_flight.is_write => {
                self.send(now, Request::Get, step);
            }
            Answer::NotFound | Answer::Failed => self.pause(now),
        }
        if self.release_wanted && self.in_flight.is_none() {
            self.release(now, wall, step);
        }
    }

    /// The lease has contained our record since some time after `sent`.
    fn written(&mut self, now: Instant, sent: Instant, lease: Lease, step: &mut Step) {
        self.observe(now, lease, step);
        if now >= sent + self.times.renew_deadline {
            // The response is so late that the leadership would be over, so try again.
            self.next_try = now;
            return;
        }
        self.renewed = sent;
        self.next_try = now + self.times.retry_period;
        if self.phase == Phase::Candidate {
            self.phase = Phase::Leading;
            step.notices.push(Notice::Started);
        }
    }

    fn release(&mut self, now: Instant, wall: Timestamp, step: &mut Step) {
        match self.phase {
            Phase::Leading => self.release_wanted = true,
            Phase::Releasing => return,
            Phase::Candidate | Phase::Ended => return self.end(step),
        }
        if self.in_flight.is_some() {
            // Its response has the resource version that the release replaces.
            return;
        }
        let Some(mut lease) = self.observed.as_ref().map(|observed| observed.lease.clone()) else {
            return self.end(step);
        };
        // As client-go releases: no holder, and a lease duration of one second.
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.acquire_time = Some(MicroTime(wall));
        spec.renew_time = Some(MicroTime(wall));
        self.phase = Phase::Releasing;
        self.send(now, Request::Update(Box::new(lease)), step);
    }

    /// Ends without a release, so that others wait for the lease to expire.
    pub(super) fn abandon(&mut self) {
        self.end(&mut Step::default());
    }

    fn end(&mut self, step: &mut Step) {
        if self.phase != Phase::Candidate {
            step.notices.push(Notice::Stopped);
        }
        self.phase = Phase::Ended;
        self.in_flight = None;
        step.send = None;
    }

    fn send(&mut self, now: Instant, request: Request, step: &mut Step) {
        self.in_flight = Some(InFlight { sent: now, is_write: request != Request::Get });
        step.send = Some(request);
    }

    fn pause(&mut self, now: Instant) {
        // The leader's tries have no jitter: no other candidate tries at its pace.
        let share = if self.phase == Phase::Leading {
            1.0
        } else {
            1.0 + JITTER_FACTOR * (self.random)().clamp(0.0, 1.0)
        };
        self.next_try = now + self.times.retry_period.mul_f64(share);
    }

    fn observe(&mut self, now: Instant, lease: Lease, step: &mut Step) {
        // Only a changed record is a sign of life; a changed label, for instance, is not.
        let same = self
            .observed
            .as_ref()
            .filter(|observed| observed.lease.spec == lease.spec)
            .map(|observed| observed.at);
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone()).unwrap_or_default();
        self.observed = Some(Observed { lease, at: same.unwrap_or(now) });
        if !holder.is_empty() && self.reported.as_ref() != Some(&holder) {
            self.reported = Some(holder.clone());
            step.notices.push(Notice::Leader(holder));
        }
    }

    fn spec(&self) -> Option<&LeaseSpec> {
        self.observed.as_ref()?.lease.spec.as_ref()
    }

    fn is_held_by_another(&self, now: Instant) -> bool {
        let (Some(observed), Some(spec)) = (&self.observed, self.spec()) else { return false };
        let holder = spec.holder_identity.as_deref().unwrap_or_default();
        if holder.is_empty() || holder == self.identity {
            return false;
        }
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let duration = seconds.map_or(self.times.lease_duration, Duration::from_secs);
        now < observed.at + duration
    }

    /// Returns our record in place of the observed one.
    fn take_over(&self, wall: Timestamp) -> Option<Request> {
        let observed = self.observed.as_ref()?;
        let is_ours = self.spec().is_some_and(|spec| spec.holder_identity.as_ref() == Some(&self.identity));
        if is_ours {
            return self.renewal(wall);
        }
        let mut lease = observed.lease.clone();
        let transitions = self.transitions().saturating_add(1);
        lease.spec = Some(LeaseSpec { lease_transitions: Some(transitions), ..self.record(wall) });
        Some(Request::Update(Box::new(lease)))
    }

    /// Returns the observed record with a new renew time.
    fn renewal(&self, wall: Timestamp) -> Option<Request> {
        let mut lease = self.observed.as_ref()?.lease.clone();
        let known = lease.spec.take().unwrap_or_default();
        // Others recognise a living leader by a record that differs from all that they have seen.
        let MicroTime(wall) = next_time(known.renew_time.as_ref(), wall);
        lease.spec = Some(LeaseSpec {
            acquire_time: known.acquire_time,
            lease_transitions: known.lease_transitions,
            ..self.record(wall)
        });
        Some(Request::Update(Box::new(lease)))
    }

    /// Returns a new lease. If the lease was deleted, the new one keeps its transitions, so that the fencing token
    /// never decreases.
    fn fresh(&self, wall: Timestamp) -> Lease {
        let transitions = self.observed.as_ref().map_or(0, |_| self.transitions().saturating_add(1));
        Lease {
            metadata: ObjectMeta {
                namespace: Some(self.namespace.clone()),
                name: Some(self.name.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec { lease_transitions: Some(transitions), ..self.record(wall) }),
        }
    }

    fn record(&self, wall: Timestamp) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.times.lease_duration.as_secs()).ok(),
            acquire_time: Some(MicroTime(wall)),
            renew_time: Some(MicroTime(wall)),
            ..LeaseSpec::default()
        }
    }
}

/// Returns `wall`, or a microsecond after the lease's time if `wall` is not later. With a wall clock that stands
/// still or jumps, a renewal could otherwise look unchanged to others and to the server.
pub(crate) fn next_time(known: Option<&MicroTime>, wall: Timestamp) -> MicroTime {
    let next =
        known.and_then(|known| Timestamp::from_microsecond(known.0.as_microsecond().checked_add(1)?).ok());
    MicroTime(next.map_or(wall, |next| next.max(wall)))
}

#[cfg(test)]
mod tests;
