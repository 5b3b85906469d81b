//! The protocol without I/O: one member's view of the group. The [module](super) explains why it is safe.
//!
//! Inputs are ticks, responses, the keys still in processing, and the request to leave, each with the monotonic time.
//! Outputs are the request to send and the mode of the gate. The wall clock is only written into the Lease.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;

use super::gate::{Mode, Ownership};
use super::lease::{Identity, Members, Publication, Record};
use super::protocol::{Answer, Input, Phase, Request, Step};
use super::ring::Ring;
use crate::leaderelection::ElectionTimes;
use crate::random::Random;

/// The limit of remembered own tokens. A lease with an older token is left to expire.
const MOST_FORMER: usize = 16;

/// With more unfinished keys than this, new members are acknowledged later, because annotations are limited in
/// size.
const MOST_FINISHING: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Write,
    Delete,
    Leave,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    sent: Instant,
    kind: Kind,
}

/// Another member, or another holder of the lease with our name.
#[derive(Clone, Debug)]
struct Other {
    record: Record,
    /// The time when this version was first seen, on our clock.
    seen: Instant,
    next_fence: Instant,
}

/// The last state given to the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    mode: Mode,
    members: Members,
}

/// A member of a group.
pub(super) struct Membership {
    identity: Identity,
    times: ElectionTimes,
    phase: Phase,
    /// Unique to one creation of the lease, so that acknowledgements of it never apply to a later one.
    token: String,
    /// Whether a creation was sent with the token.
    is_token_used: bool,
    /// Tokens of lost memberships and of unanswered creations.
    former: VecDeque<String>,
    own: Option<Lease>,
    others: BTreeMap<String, Other>,
    /// Another holder of the lease with our name.
    namesake: Option<Other>,
    /// Earlier members that have not acknowledged this one; `None` until they are known.
    awaited: Option<BTreeSet<(String, String)>>,
    /// The time when the last successful write was sent.
    renewed: Option<Instant>,
    in_flight: Option<InFlight>,
    renew_at: Instant,
    /// No write is sent before this time.
    retry_at: Instant,
    list_at: Instant,
    frame: Frame,
    version: u64,
    /// The next publication, and the last one.
    publication: Publication,
    written: Publication,
    is_drained: bool,
    leave_wanted: bool,
    random: Random,
}

impl Membership {
    pub(super) fn new(now: Instant, identity: Identity, times: ElectionTimes, mut random: Random) -> Self {
        Membership {
            token: token(&mut random),
            identity,
            times,
            phase: Phase::Joining,
            is_token_used: false,
            former: VecDeque::new(),
            own: None,
            others: BTreeMap::new(),
            namesake: None,
            awaited: None,
            renewed: None,
            in_flight: None,
            renew_at: now,
            retry_at: now,
            list_at: now,
            frame: Frame { mode: Mode::Closed, members: Members::new() },
            version: 0,
            publication: Publication::default(),
            written: Publication::default(),
            is_drained: true,
            leave_wanted: false,
            random,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the known leases of the group, including this member's.
    pub(super) fn members(&self) -> BTreeSet<String> {
        let own = self.own.as_ref().map(|_| self.identity.name.clone());
        self.others.keys().cloned().chain(own).collect()
    }

    /// Returns the members that have not acknowledged this one.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &str> {
        self.awaited.iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Returns the time until which keys may begin unless a further renewal succeeds.
    pub(super) fn valid_until(&self) -> Option<Instant> {
        let is_member = matches!(self.phase, Phase::Working | Phase::Leaving);
        self.renew_by().filter(|_| is_member)
    }

    fn renew_by(&self) -> Option<Instant> {
        Some(self.renewed? + self.times.renew_deadline)
    }

    fn is_member(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Working | Phase::Leaving)
    }

    /// Returns the time limit of a response, so that a renewal has time for another try.
    fn patience(&self) -> Duration {
        self.times.renew_deadline / 2
    }

    /// Returns when the next tick is due.
    pub(super) fn wake_at(&self, now: Instant) -> Instant {
        let next = match self.in_flight {
            Some(in_flight) => in_flight.sent + self.patience(),
            None => self.next_due(now),
        };
        let deadline = self.renew_by().filter(|_| self.is_member());
        deadline.map_or(next, |deadline| next.min(deadline))
    }

    fn next_due(&self, now: Instant) -> Instant {
        match self.phase {
            Phase::Joining => self.list_at,
            // Only the end of the work is awaited.
            Phase::Lost | Phase::Ended => now + self.times.retry_period,
            Phase::Waiting | Phase::Working | Phase::Leaving => {
                let write = if self.wants_write() { self.retry_at } else { self.renew_at.max(self.retry_at) };
                let fences = self.others.values().map(|other| self.fence_at(other));
                fences.chain([write, self.list_at]).min().unwrap_or(write)
            }
        }
    }

    /// Handles an input that happened at `now` (`wall` by the wall clock).
    pub(super) fn on(&mut self, now: Instant, wall: Timestamp, input: Input) -> Step {
        let mut step = Step::default();
        if self.phase == Phase::Ended {
            return step;
        }
        if self.is_member() && self.renew_by().is_some_and(|deadline| now >= deadline) {
            self.lose(&mut step);
        }
        match input {
            Input::Tick => self.give_up(now),
            Input::Answer(answer) => self.answer(now, answer, &mut step),
            Input::Finishing { version, keys } if version == self.version => self.finishing(keys),
            Input::Finishing { .. } => {}
            Input::Leave => self.leave_wanted = true,
        }
        self.advance(now);
        self.tell_gate(&mut step);
        // Wait for the gate first, because the lease is written with the result.
        if self.in_flight.is_none() && step.gate.is_none() {
            self.plan(now, wall, &mut step);
        }
        step
    }

    /// Drops a request that takes too long. The next list shows its effect.
    fn give_up(&mut self, now: Instant) {
        if self.in_flight.is_some_and(|in_flight| now >= in_flight.sent + self.patience()) {
            self.in_flight = None;
            self.list_at = self.list_at.min(now);
        }
    }

    fn finishing(&mut self, keys: BTreeSet<u64>) {
        self.is_drained = keys.is_empty();
        if keys.len() <= MOST_FINISHING {
            self.publication = Publication { view: self.frame.members.clone(), finishing: keys };
        }
    }

    fn answer(&mut self, now: Instant, answer: Answer, step: &mut Step) {
        let Some(InFlight { sent, kind }) = self.in_flight.take() else { return };
        match (kind, answer) {
            (Kind::List, Answer::Leases(leases)) => self.listed(now, &leases, step),
            (Kind::Write, Answer::Lease(lease)) => self.wrote(now, sent, *lease, step),
            (Kind::Leave, Answer::Deleted) => self.phase = Phase::Ended,
            (Kind::Delete, _) => self.list_at = now,
            (Kind::List, _) => self.list_at = now + self.pause(),
            (Kind::Write | Kind::Leave, _) => {
                // The lease as it is now decides, so read it.
                self.retry_at = now + self.times.retry_period / 4;
                self.list_at = if self.phase == Phase::Joining { now + self.pause() } else { now };
            }
        }
    }

    /// Our lease has had this content since some time after `sent`.
    fn wrote(&mut self, now: Instant, sent: Instant, lease: Lease, step: &mut Step) {
        if self.phase == Phase::Joining {
            self.phase = Phase::Waiting;
            self.list_at = now;
        } else if self.own.as_ref().is_some_and(|own| own.metadata.uid != lease.metadata.uid) {
            // The write created the lease again, so others may have seen a time without it.
            return self.lose(step);
        }
        self.written = Record::of(&lease).publication;
        self.own = Some(lease);
        self.retry_at = now + self.times.retry_period / 8;
        if now < sent + self.times.renew_deadline {
            self.renewed = Some(sent);
            self.renew_at = now + self.times.retry_period;
        }
    }

    fn listed(&mut self, now: Instant, leases: &[Lease], step: &mut Step) {
        let mut others = BTreeMap::new();
        let mut own = None;
        let mut namesake = None;
        for lease in leases {
            let record = Record::of(lease);
            let is_namesake = record.name == self.identity.name;
            if is_namesake && record.token == self.token {
                own = Some(lease);
                continue;
            }
            let known = if is_namesake { self.namesake.take() } else { self.others.remove(&record.name) };
            let other = match known.filter(|known| known.record.written == record.written) {
                Some(known) => known,
                None => Other { record, seen: now, next_fence: now },
            };
            if is_namesake {
                namesake = Some(other);
            } else {
                others.insert(other.record.name.clone(), other);
            }
        }
        self.others = others;
        self.namesake = namesake;
        match own {
            Some(own) if self.phase == Phase::Joining => {
                // Our creation succeeded, and its response was lost.
                self.phase = Phase::Waiting;
                self.own = Some(own.clone());
                (self.renew_at, self.list_at) = (now, now);
                return;
            }
            Some(own) => self.own = Some(own.clone()),
            None if self.is_member() => return self.lose(step),
            None => {}
        }
        if self.is_member() {
            self.count_acknowledgements();
        }
        let is_busy = self.is_member() && (self.awaited().next().is_some() || !self.blocked().is_empty());
        let period = if is_busy { self.times.retry_period / 4 } else { self.times.retry_period };
        self.list_at = now + period;
    }

    fn count_acknowledgements(&mut self) {
        let others = &self.others;
        let awaited = self.awaited.get_or_insert_with(|| {
            others.iter().map(|(name, other)| (name.clone(), other.record.token.clone())).collect()
        });
        let (name, token) = (&self.identity.name, &self.token);
        awaited.retain(|(other, incarnation)| {
            // The lease is gone or was created again, so its owner saw us before it began.
            let same = others.get(other).filter(|other| other.record.token == *incarnation);
            same.is_some_and(|other| other.record.publication.view.get(name) != Some(token))
        });
    }

    /// Returns the own keys that others have not finished.
    fn blocked(&self) -> BTreeSet<u64> {
        self.others.values().flat_map(|other| other.record.publication.finishing.iter().copied()).collect()
    }

    fn advance(&mut self, now: Instant) {
        match self.phase {
            Phase::Waiting if self.leave_wanted => self.phase = Phase::Leaving,
            Phase::Waiting => {
                let is_acknowledged = self.awaited.as_ref().is_some_and(BTreeSet::is_empty);
                if is_acknowledged && self.renew_by().is_some_and(|deadline| now < deadline) {
                    self.phase = Phase::Working;
                }
            }
            Phase::Working if self.leave_wanted => self.phase = Phase::Leaving,
            Phase::Joining if self.leave_wanted && self.in_flight.is_none() => self.phase = Phase::Ended,
            Phase::Lost if self.is_drained && self.leave_wanted => self.phase = Phase::Ended,
            Phase::Lost if self.is_drained => {
                self.change_token();
                self.phase = Phase::Joining;
                self.list_at = now;
            }
            Phase::Joining | Phase::Working | Phase::Lost | Phase::Leaving | Phase::Ended => {}
        }
    }

    fn lose(&mut self, step: &mut Step) {
        self.phase = Phase::Lost;
        self.own = None;
        self.renewed = None;
        self.awaited = None;
        self.in_flight = None;
        // The gate sets it again.
        self.is_drained = false;
        step.is_lost = true;
    }

    fn tell_gate(&mut self, step: &mut Step) {
        let mode = match self.phase {
            Phase::Working => {
                let ring = Ring::new(&self.identity.name, self.others.keys().map(String::as_str));
                Mode::Open(Arc::new(Ownership { ring, blocked: self.blocked() }))
            }
            Phase::Lost => Mode::Stopped,
            Phase::Joining | Phase::Waiting | Phase::Leaving | Phase::Ended => Mode::Closed,
        };
        let members = self.others.iter().map(|(name, other)| (name.clone(), other.record.token.clone()));
        let frame = Frame { mode, members: members.collect() };
        if frame != self.frame {
            self.version += 1;
            self.is_drained = false;
            step.gate = Some((self.version, frame.mode.clone()));
            self.frame = frame;
        }
    }

    fn wants_write(&self) -> bool {
        self.written != self.publication || (self.phase == Phase::Leaving && self.is_drained)
    }

    fn fence_at(&self, other: &Other) -> Instant {
        let duration = other.record.duration.unwrap_or(self.times.lease_duration);
        (other.seen + duration).max(other.next_fence)
    }

    /// Chooses the next request.
    fn plan(&mut self, now: Instant, wall: Timestamp, step: &mut Step) {
        let request = match self.phase {
            Phase::Joining if now >= self.list_at => Some((Kind::List, Request::List)),
            Phase::Joining => self.join(now, wall),
            Phase::Waiting | Phase::Working | Phase::Leaving => self.keep(now, wall),
            Phase::Lost | Phase::Ended => None,
        };
        if let Some((kind, request)) = request {
            self.in_flight = Some(InFlight { sent: now, kind });
            step.send = Some(request);
        }
    }

    /// Creates the lease after a list, if its name is free.
    fn join(&mut self, now: Instant, wall: Timestamp) -> Option<(Kind, Request)> {
        if now < self.retry_at {
            return None;
        }
        let Some(namesake) = &self.namesake else {
            if self.is_token_used {
                self.change_token();
            }
            self.is_token_used = true;
            let lease = self.identity.write(None, &self.token, &self.publication, wall);
            return Some((Kind::Write, Request::Create(Box::new(lease))));
        };
        // Our own lost membership has stopped; any other holder's lease must have expired.
        let is_former = self.former.contains(&namesake.record.token);
        let fence_at = if is_former { namesake.next_fence } else { self.fence_at(namesake) };
        if now < fence_at {
            return None;
        }
        let request = delete(&namesake.record);
        if let Some(namesake) = &mut self.namesake {
            namesake.next_fence = now + self.times.retry_period;
        }
        Some((Kind::Delete, request))
    }

    fn change_token(&mut self) {
        if self.former.len() == MOST_FORMER {
            self.former.pop_front();
        }
        self.former.push_back(std::mem::replace(&mut self.token, token(&mut self.random)));
        self.is_token_used = false;
    }

    fn keep(&mut self, now: Instant, wall: Timestamp) -> Option<(Kind, Request)> {
        let is_write_due = self.wants_write() || now >= self.renew_at;
        if is_write_due && now >= self.retry_at {
            let own = self.own.as_ref()?;
            if self.phase == Phase::Leaving && self.is_drained {
                let uid = own.metadata.uid.clone().unwrap_or_default();
                let name = self.identity.name.clone();
                return Some((Kind::Leave, Request::Delete { name, uid, version: None }));
            }
            let lease = self.identity.write(Some(own), &self.token, &self.publication, wall);
            return Some((Kind::Write, Request::Update(Box::new(lease))));
        }
        let ended = self.others.iter().find(|(_, other)| now >= self.fence_at(other));
        if let Some(name) = ended.map(|(name, _)| name.clone()) {
            let other = self.others.get_mut(&name)?;
            other.next_fence = now + self.times.retry_period;
            return Some((Kind::Delete, delete(&other.record)));
        }
        (now >= self.list_at).then_some((Kind::List, Request::List))
    }

    /// Returns a pause with jitter, so that many members do not retry at the same moment.
    fn pause(&mut self) -> Duration {
        self.times.retry_period.mul_f64((0.5 + (self.random)() / 2.0).clamp(0.0, 1.0))
    }
}

fn delete(record: &Record) -> Request {
    let (uid, version) = record.written.clone();
    Request::Delete { name: record.name.clone(), uid, version: Some(version) }
}

fn token(random: &mut Random) -> String {
    // As many bits as the random numbers have.
    format!("{:013x}", (random() * (1_u64 << 52) as f64) as u64)
}

#[cfg(test)]
mod tests;
