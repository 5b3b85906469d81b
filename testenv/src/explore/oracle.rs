//! The failures of a run.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::mem::discriminant;
use std::time::Duration;

/// The span of simulated time in which writes and requests are counted.
const WINDOW: Duration = Duration::from_secs(10);
/// The limit of effective writes of one object in [`WINDOW`]; more are a hot loop.
const MOST_WRITES: usize = 100;
/// The limit of requests in [`WINDOW`]; more are a busy loop.
const MOST_REQUESTS: usize = 20_000;
/// The limit of repetitions of a refused write, with pauses, before it counts as stuck.
const MOST_REFUSALS: usize = 10;

/// The least pause between requests that are not one piece of work.
const PAUSE: Duration = Duration::from_secs(10);
/// The longest pause between requests after which a run waits for the next one.
const MOST_PAUSE: Duration = Duration::from_secs(11 * 60);

/// The reason why a run fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The scenario cannot be run.
    Setup(String),
    /// The requested schedule has a place that its run does not have.
    NoPlace {
        place: String,
        nearest: Vec<String>,
    },
    Panic(String),
    /// The operator's future ends again and again.
    Exits,
    /// After a step, the objects differ from those without faults.
    State {
        after: String,
        differences: Vec<String>,
    },
    /// A change and its reversal do not restore the state, or the order of two changes matters.
    NotReversed {
        what: String,
        step: usize,
        differences: Vec<String>,
    },
    /// Objects of an earlier form of a custom resource stay.
    Outdated(Vec<String>),
    /// A field is unset, and the objects keep what it has led to.
    NotUnset {
        field: String,
        step: usize,
        differences: Vec<String>,
    },
    /// An object is written without end.
    HotLoop(String),
    /// Writes of an object never end, with pauses.
    Endless(String),
    /// Requests never end.
    BusyLoop,
    /// The server refuses the same write again and again.
    Refused(String),
    /// A terminating object stays.
    Stuck(String),
    /// An object in the right state was deleted and recreated.
    Destroyed(String),
    /// Objects of deleted custom resources are left.
    Leaked(Vec<String>),
    /// A user's edit was overwritten.
    EditLost(String),
    /// An object of another owner was taken over.
    NotOurs {
        what: String,
        owner: String,
    },
    /// The garbage collector deletes an object, since its owner is in another namespace.
    OwnerElsewhere(String),
    /// Objects that users have applied are deleted with the custom resources.
    Taken(Vec<String>),
    Always(String),
    Eventually(String),
}

impl Failure {
    /// Reports whether two failures are of one kind.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }
}

/// Writes a text, and each of these texts in a line of its own below it.
fn titled(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
    f.write_str(title)?;
    list(f, lines)
}

/// Writes each of these texts in a line of its own.
fn list(f: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    lines.iter().try_for_each(|line| write!(f, "\n  - {line}"))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(text) => write!(f, "the scenario cannot be run: {text}"),
            Self::NoPlace { place, nearest } => {
                write!(f, "the run of this schedule has no place {place:?}")?;
                if !nearest.is_empty() {
                    f.write_str("; the nearest ones are:")?;
                }
                list(f, nearest)
            }
            Self::Panic(text) => write!(f, "the operator panics: {text}"),
            Self::Exits => f.write_str("the operator's future ends again and again"),
            Self::State { after, differences } => {
                write!(f, "{after}, the objects do not become what they are without faults:")?;
                list(f, differences)
            }
            Self::NotReversed { what, step, differences } => {
                write!(f, "{what} should make no difference in the end, but after step {step} it does:")?;
                list(f, differences)
            }
            Self::Outdated(left) => titled(
                f,
                "an earlier form of the custom resource needed these objects, and its present one does not:",
                left,
            ),
            Self::NotUnset { field, step, differences } => {
                write!(
                    f,
                    "{field} is unset in step {step}, and the objects are not as if it had never been set:"
                )?;
                list(f, differences)
            }
            Self::HotLoop(what) => write!(f, "hot loop: {what} changes the object without end"),
            Self::Endless(what) => write!(f, "writes never end: {what}"),
            Self::BusyLoop => f.write_str("busy loop: requests never end"),
            Self::Refused(what) => write!(f, "the server refuses the same write again and again: {what}"),
            Self::Stuck(what) => write!(f, "the deletion never ends: {what}"),
            Self::Destroyed(what) => {
                write!(f, "an object that was as wanted is deleted and made again: {what}")
            }
            Self::Leaked(left) => {
                titled(f, "the custom resource is deleted, but what was made for it stays:", left)
            }
            Self::EditLost(at) => write!(f, "a user's edit between read and write is overwritten: {at}"),
            Self::NotOurs { what, owner } => {
                write!(f, "an object that belongs to {owner} is taken over: {what}")
            }
            Self::OwnerElsewhere(what) => write!(f, "the garbage collector deletes {what}"),
            Self::Taken(gone) => titled(
                f,
                "the custom resource is deleted, and so is what a user applied and did not delete:",
                gone,
            ),
            Self::Always(text) => write!(f, "an invariant was violated: {text}"),
            Self::Eventually(text) => write!(f, "a condition did not hold in the end: {text}"),
        }
    }
}

/// The refusals of a write in a row.
struct Refusal {
    text: String,
    times: usize,
    last: Duration,
}

/// Counts writes and requests in simulated time.
#[derive(Default)]
pub(super) struct Rates {
    writes: BTreeMap<String, VecDeque<Duration>>,
    requests: VecDeque<Duration>,
    /// The times of requests with a pause of at least [`PAUSE`] before them.
    bursts: Vec<Duration>,
    last_request: Duration,
    refusals: BTreeMap<String, Refusal>,
}

fn count(times: &mut VecDeque<Duration>, now: Duration) -> usize {
    times.push_back(now);
    while times.front().is_some_and(|at| *at + WINDOW < now) {
        times.pop_front();
    }
    times.len()
}

impl Rates {
    /// Counts a request.
    pub(super) fn request(&mut self, now: Duration) {
        count(&mut self.requests, now);
        if now - self.last_request >= PAUSE {
            self.bursts.push(now);
        }
        self.last_request = now;
    }

    /// Returns the longest pause between requests since `begin`, if they go on with pauses of at most [`MOST_PAUSE`].
    pub(super) fn longest_pause(&self, begin: Duration) -> Option<Duration> {
        let bursts = self.bursts.iter().skip_while(|at| **at <= begin);
        let pauses: Vec<Duration> =
            bursts.clone().zip(bursts.skip(1)).map(|(one, next)| *next - *one).collect();
        let longest = pauses.iter().max().copied()?;
        (pauses.len() >= 3 && longest <= MOST_PAUSE).then_some(longest)
    }

    /// Counts a write that changed its object. Creations of objects with generated names have one label for all of them.
    /// Reports whether there are too many.
    pub(super) fn write(&mut self, label: &str, now: Duration) -> bool {
        let times = count(self.writes.entry(label.to_owned()).or_default(), now);
        let most = if label.starts_with("create ") && label.contains("/ by ") {
            10 * MOST_WRITES
        } else {
            MOST_WRITES
        };
        times > most
    }

    pub(super) fn too_busy(&self, now: Duration) -> Option<Failure> {
        let is_busy = self.requests.len() > MOST_REQUESTS
            && self.requests.front().is_some_and(|first| *first + WINDOW >= now);
        is_busy.then_some(Failure::BusyLoop)
    }

    /// Resets the counts.
    pub(super) fn forget(&mut self) {
        self.writes.clear();
        self.requests.clear();
    }

    /// Records the outcome of a write. `refusal` is the server's text if every repetition of the write would be
    /// refused.
    pub(super) fn outcome(&mut self, label: &str, refusal: Option<String>, now: Duration) {
        let Some(text) = refusal else {
            self.refusals.remove(label);
            return;
        };
        let known =
            self.refusals.entry(label.to_owned()).or_insert_with(|| Refusal { text, times: 0, last: now });
        known.times += 1;
        known.last = now;
    }

    /// Reports whether a write is refused in a row, so that the run has to wait for the end of that.
    pub(super) fn is_refused(&self, now: Duration) -> bool {
        self.refusals
            .values()
            .any(|refusal| refusal.times >= 3 && refusal.last + Duration::from_secs(300) > now)
    }

    /// Returns a write that was refused too often.
    pub(super) fn refused(&self) -> Option<Failure> {
        let stuck = self.refusals.values().find(|refusal| refusal.times >= MOST_REFUSALS)?;
        Some(Failure::Refused(stuck.text.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_loop_is_found_when_writes_do_not_pause() {
        let (mut fast, mut slow) = (Rates::default(), Rates::default());
        let of = |rates: &mut Rates, pause: u64| {
            (0..=150).any(|i| rates.write("update a", Duration::from_secs(pause * i)))
        };
        assert!(of(&mut fast, 0));
        assert!(!of(&mut slow, 1));
    }

    #[test]
    fn refusal_is_forgotten_when_a_write_succeeds() {
        let mut rates = Rates::default();
        for i in 0..20 {
            rates.outcome("update a", (i != 15).then(|| "no".to_owned()), Duration::from_secs(i));
        }
        assert_eq!(rates.refused(), None);
        (0..6).for_each(|_| rates.outcome("update a", Some("no".to_owned()), Duration::ZERO));
        assert_eq!(rates.refused(), Some(Failure::Refused("no".to_owned())));
    }
}
