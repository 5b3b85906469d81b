//! The state machine of list and watch, without I/O: `on(now, input) -> Action`.
//!
//! Inputs report what happened on the wire; actions request the next step. The machine knows resource versions,
//! not objects. Time and the seed of its randomness are passed in. Constants are client-go's
//! (`tools/cache/reflector.go`) unless they say otherwise.

use std::time::Duration;

use tokio::time::Instant;

use super::backoff::Backoff;
pub(crate) use super::protocol::{Action, Failure, Input, Request};
use crate::random::Random;

/// A watch requests a timeout between this and twice this.
const WATCH_TIMEOUT: Duration = Duration::from_secs(300);
/// A watch that is still open this long after its timeout is dead. Ours: client-go relies on TCP.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// A watch that ends sooner without an event counts as a failure.
const SHORT_WATCH: Duration = Duration::from_secs(1);
/// A response must begin, and a page must continue, within the API server's request timeout.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// A streaming list must continue within this time; servers that ignore `sendInitialEvents` send nothing. Ours.
const INITIAL_SILENCE: Duration = Duration::from_secs(30);
/// A second list within this time waits for the backoff first. Ours.
const RELIST_INTERVAL: Duration = Duration::from_secs(30);
/// `limit` of paged lists.
pub(crate) const PAGE_SIZE: u32 = 500;

#[derive(Clone, Debug)]
enum Phase {
    New,
    /// A watch that begins with the initial state.
    Streaming,
    Listing(Listing),
    Watching {
        /// The time when the response began.
        opened: Option<Instant>,
        timeout: Duration,
        events: bool,
    },
    /// A list of one object, to learn the server's version.
    Checking,
    Waiting(Next),
}

#[derive(Clone, Debug)]
struct Listing {
    version: String,
    limit: Option<u32>,
    continue_token: Option<String>,
}

/// The step after a wait.
#[derive(Clone, Debug)]
enum Next {
    Begin,
    /// Requests the same page again.
    Page(Listing),
    Watch,
}

pub(crate) struct Machine {
    phase: Phase,
    deadline: Instant,
    /// The version up to which the store is complete; empty before the first commit.
    version: String,
    /// Requests must not use `version`: the server said that it is gone or unknown.
    expired: bool,
    /// Streaming lists are wanted and not known to be unsupported.
    streaming: bool,
    /// The next list is paged because the streaming list failed.
    fall_back: bool,
    page_size: u32,
    backoff: Backoff,
    random: Random,
    last_list: Option<Instant>,
    malformed_in_a_row: u32,
}

impl Machine {
    pub(crate) fn new(now: Instant, streaming: bool, random: Random) -> Self {
        Self {
            phase: Phase::New,
            deadline: now,
            version: String::new(),
            expired: false,
            streaming,
            fall_back: false,
            page_size: PAGE_SIZE,
            backoff: Backoff::new(),
            random,
            last_list: None,
            malformed_in_a_row: 0,
        }
    }

    /// Sets the page size of paged lists.
    pub(crate) fn set_page_size(&mut self, limit: u32) {
        self.page_size = limit;
    }

    /// Returns when [`Input::Deadline`] is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the version up to which the store is complete.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Returns the verb of the current request, for messages.
    pub(crate) fn verb(&self) -> &'static str {
        match self.phase {
            Phase::Listing(_) | Phase::Checking => "list",
            _ => "watch",
        }
    }

    pub(crate) fn on(&mut self, now: Instant, input: Input<'_>) -> Action {
        match input {
            Input::Deadline => self.deadline_passed(now),
            Input::Opened => self.opened(now),
            Input::Object { version } => self.object(now, version),
            Input::Bookmark { version, initial_events_end } => {
                self.bookmark(now, version, initial_events_end)
            }
            Input::PageEnd { version, continue_token } => self.page_end(now, version, continue_token),
            Input::Ended => self.ended(now),
            Input::Failed(failure) => self.failed(now, failure),
        }
    }

    /// Starts a list, streaming or paged.
    fn begin(&mut self, now: Instant) -> Action {
        self.last_list = Some(now);
        if self.streaming && !self.fall_back {
            let version = if self.expired { String::new() } else { self.version.clone() };
            let timeout = self.watch_timeout();
            self.phase = Phase::Streaming;
            self.deadline = now + ANSWER_TIMEOUT;
            return Action::Send(Request::Watch { version, initial_events: true, timeout });
        }
        let version = match self.version.as_str() {
            _ if self.expired => String::new(),
            "" => "0".to_owned(),
            seen => seen.to_owned(),
        };
        // The watch cache serves lists at a version from memory only if they are not paged.
        let limit = matches!(version.as_str(), "" | "0").then_some(self.page_size);
        self.page(now, Listing { version, limit, continue_token: None }, false)
    }

    fn page(&mut self, now: Instant, listing: Listing, again: bool) -> Action {
        self.deadline = now + ANSWER_TIMEOUT;
        let Listing { version, limit, continue_token } = listing.clone();
        self.phase = Phase::Listing(listing);
        Action::Send(Request::List { version, limit, continue_token, again })
    }

    fn watch_request(&mut self, now: Instant) -> Request {
        let timeout = self.watch_timeout();
        self.phase = Phase::Watching { opened: None, timeout, events: false };
        self.deadline = now + ANSWER_TIMEOUT;
        Request::Watch { version: self.version.clone(), initial_events: false, timeout }
    }

    /// Returns a timeout in whole seconds, as the parameter requires.
    fn watch_timeout(&mut self) -> Duration {
        Duration::from_secs(WATCH_TIMEOUT.mul_f64(1.0 + (self.random)()).as_secs())
    }

    fn opened(&mut self, now: Instant) -> Action {
        match &mut self.phase {
            Phase::Streaming => self.deadline = now + INITIAL_SILENCE,
            Phase::Listing(_) | Phase::Checking => self.deadline = now + ANSWER_TIMEOUT,
            Phase::Watching { opened, timeout, .. } => {
                *opened = Some(now);
                self.deadline = now + *timeout + WATCH_GRACE;
            }
            Phase::New | Phase::Waiting(_) => {}
        }
        Action::Continue
    }

    fn object(&mut self, now: Instant, version: Option<&str>) -> Action {
        match &mut self.phase {
            Phase::Streaming => {
                self.deadline = now + INITIAL_SILENCE;
                Action::Stage
            }
            Phase::Listing(_) => {
                self.deadline = now + ANSWER_TIMEOUT;
                Action::Stage
            }
            Phase::Watching { events, .. } => {
                *events = true;
                match version {
                    Some(version) => self.advance(now, version).unwrap_or(Action::Apply),
                    None => Action::Apply,
                }
            }
            Phase::New | Phase::Checking | Phase::Waiting(_) => Action::Continue,
        }
    }

    fn bookmark(&mut self, now: Instant, version: &str, initial_events_end: bool) -> Action {
        match &mut self.phase {
            Phase::Streaming if initial_events_end && version.is_empty() => self.list_instead(now),
            Phase::Streaming if initial_events_end => {
                let timeout = self.watch_timeout();
                self.phase = Phase::Watching { opened: Some(now), timeout, events: true };
                self.deadline = now + timeout + WATCH_GRACE;
                self.commit(version, None)
            }
            Phase::Streaming => {
                self.deadline = now + INITIAL_SILENCE;
                Action::Continue
            }
            Phase::Watching { events, .. } => {
                *events = true;
                self.advance(now, version).unwrap_or(Action::Continue)
            }
            _ => Action::Continue,
        }
    }

    /// Records the version of a live event. If it goes back, the server's history is a different one (restored, or
    /// restarted empty), so only a new list can be trusted.
    fn advance(&mut self, now: Instant, version: &str) -> Option<Action> {
        self.malformed_in_a_row = 0;
        // A watch cannot resume here: it would miss earlier deletions.
        if version.is_empty() {
            return None;
        }
        if goes_back(&self.version, version) {
            self.expired = true;
            return Some(self.relist(now));
        }
        self.version.clear();
        self.version.push_str(version);
        None
    }

    fn page_end(&mut self, now: Instant, version: &str, continue_token: Option<&str>) -> Action {
        if matches!(self.phase, Phase::Checking) {
            // Do not resume at a newer version: the silent watch may have missed events before it.
            if goes_back(&self.version, version) {
                self.expired = true;
                return self.relist(now);
            }
            return self.watch(now);
        }
        let Phase::Listing(listing) = &self.phase else { return Action::Continue };
        match continue_token {
            Some(token) if !token.is_empty() => {
                let next = Listing { continue_token: Some(token.to_owned()), ..listing.clone() };
                self.page(now, next, false)
            }
            _ => {
                self.version.clear();
                self.version.push_str(version);
                let watch = self.watch_request(now);
                self.commit(version, Some(watch))
            }
        }
    }

    fn commit(&mut self, version: &str, then: Option<Request>) -> Action {
        self.version.clear();
        self.version.push_str(version);
        self.expired = false;
        self.fall_back = false;
        self.malformed_in_a_row = 0;
        Action::Commit { version: version.to_owned(), then }
    }

    fn ended(&mut self, now: Instant) -> Action {
        match &self.phase {
            // It ended before the state was complete.
            Phase::Streaming => self.list_instead(now),
            Phase::Listing(_) => self.failed(now, Failure::Transport),
            Phase::Watching { opened, events, .. } => {
                let short = opened.is_none_or(|opened| now < opened + SHORT_WATCH);
                match events {
                    true => self.watch(now),
                    false if short => self.wait(now, None, Next::Watch),
                    false => self.check(now),
                }
            }
            Phase::Checking => self.failed(now, Failure::Transport),
            Phase::New | Phase::Waiting(_) => Action::Continue,
        }
    }

    fn deadline_passed(&mut self, now: Instant) -> Action {
        if now < self.deadline {
            return Action::Continue;
        }
        match self.phase.clone() {
            Phase::New => self.begin(now),
            Phase::Streaming => self.list_instead(now),
            Phase::Listing(_) => self.failed(now, Failure::Transport),
            Phase::Watching { opened: Some(_), events: true, .. } => self.watch(now),
            Phase::Watching { opened: Some(_), events: false, .. } => self.check(now),
            Phase::Checking => self.failed(now, Failure::Transport),
            Phase::Watching { opened: None, .. } => self.wait(now, None, Next::Watch),
            Phase::Waiting(Next::Begin) => self.begin(now),
            Phase::Waiting(Next::Page(listing)) => self.page(now, listing, true),
            Phase::Waiting(Next::Watch) => self.watch(now),
        }
    }

    /// Requests the server's version after a watch that received nothing, not even the bookmarks that servers send
    /// every minute. A server that was restored to an older state sends nothing until its versions catch up. Ours.
    fn check(&mut self, now: Instant) -> Action {
        self.phase = Phase::Checking;
        self.deadline = now + ANSWER_TIMEOUT;
        let (version, limit) = (String::new(), Some(1));
        Action::Send(Request::List { version, limit, continue_token: None, again: false })
    }

    fn watch(&mut self, now: Instant) -> Action {
        Action::Send(self.watch_request(now))
    }

    fn failed(&mut self, now: Instant, failure: Failure) -> Action {
        match self.phase.clone() {
            Phase::Streaming => self.streaming_failed(now, failure),
            Phase::Listing(listing) => self.listing_failed(now, failure, listing),
            Phase::Watching { opened, events, .. } => self.watching_failed(now, failure, opened, events),
            Phase::Checking => match failure {
                Failure::TooManyRequests { retry_after } | Failure::Refused { retry_after, .. } => {
                    self.wait(now, retry_after, Next::Watch)
                }
                _ => self.wait(now, None, Next::Watch),
            },
            Phase::New | Phase::Waiting(_) => Action::Continue,
        }
    }

    fn streaming_failed(&mut self, now: Instant, failure: Failure) -> Action {
        match failure {
            Failure::Expired | Failure::TooLarge => self.without_version(now),
            Failure::TooManyRequests { retry_after } => self.wait(now, retry_after, Next::Begin),
            // The server does not support streaming lists, or not for this resource, so do not try again.
            Failure::Refused { code: 400 | 405 | 422, .. } => {
                self.streaming = false;
                self.begin(now)
            }
            Failure::Transport => self.wait(now, None, Next::Begin),
            Failure::Refused { .. } | Failure::Malformed => self.list_instead(now),
        }
    }

    fn listing_failed(&mut self, now: Instant, failure: Failure, listing: Listing) -> Action {
        match failure {
            // The token of a later page expired: only a full list in one response cannot expire.
            Failure::Expired if listing.continue_token.is_some() => {
                self.expired = true;
                let whole = Listing { version: String::new(), limit: None, continue_token: None };
                self.page(now, whole, false)
            }
            Failure::Expired | Failure::TooLarge => self.without_version(now),
            Failure::TooManyRequests { retry_after } | Failure::Refused { code: 500.., retry_after } => {
                self.wait(now, retry_after, Next::Page(listing))
            }
            Failure::Transport => self.wait(now, None, Next::Page(listing)),
            Failure::Refused { retry_after, .. } => self.wait(now, retry_after, Next::Begin),
            Failure::Malformed => self.wait(now, None, Next::Begin),
        }
    }

    fn watching_failed(
        &mut self,
        now: Instant,
        failure: Failure,
        opened: Option<Instant>,
        events: bool,
    ) -> Action {
        match failure {
            Failure::Expired | Failure::TooLarge => {
                self.expired = true;
                self.relist(now)
            }
            Failure::TooManyRequests { retry_after } | Failure::Refused { code: 500.., retry_after } => {
                self.wait(now, retry_after, Next::Watch)
            }
            // Credentials, permissions, or the resource may have changed, so start over.
            Failure::Refused { retry_after, .. } => self.wait(now, retry_after, Next::Begin),
            // A connection that served for a while broke; one that never did was refused.
            Failure::Transport => {
                let served = opened.is_some_and(|opened| events || now >= opened + SHORT_WATCH);
                if served { self.watch(now) } else { self.wait(now, None, Next::Watch) }
            }
            // Once may be an accident; twice at the same version means that this event cannot be read.
            Failure::Malformed => {
                self.malformed_in_a_row += 1;
                let next = if self.malformed_in_a_row < 2 { Next::Watch } else { Next::Begin };
                self.wait(now, None, next)
            }
        }
    }

    /// Lists again without a version; at once if the version was the reason.
    fn without_version(&mut self, now: Instant) -> Action {
        if std::mem::replace(&mut self.expired, true) {
            self.wait(now, None, Next::Begin)
        } else {
            self.begin(now)
        }
    }

    fn list_instead(&mut self, now: Instant) -> Action {
        self.fall_back = true;
        self.begin(now)
    }

    /// Lists after an interruption: at once, unless lists follow each other quickly.
    fn relist(&mut self, now: Instant) -> Action {
        match self.last_list {
            Some(last) if now < last + RELIST_INTERVAL => self.wait(now, None, Next::Begin),
            _ => self.begin(now),
        }
    }

    fn wait(&mut self, now: Instant, at_least: Option<Duration>, next: Next) -> Action {
        let delay = self.backoff.delay(now, &mut self.random);
        self.deadline = now + delay.max(at_least.unwrap_or_default());
        self.phase = Phase::Waiting(next);
        Action::Wait
    }
}

/// Reports whether `next` is older than `last`. Versions that are not decimal numbers cannot be compared.
pub(crate) fn goes_back(last: &str, next: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(last) && is_number(next) && (next.len(), next) < (last.len(), last)
}

#[cfg(test)]
mod tests;
