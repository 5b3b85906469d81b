//! Why the keys of a controller wait, for people.

use std::fmt;
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::workqueue::{Place, Placed, Queue, QueueKey};

/// The phase of a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its run has not begun: the manager waits for its caches, or for the lease.
    #[default]
    NotStarted,
    /// It waits for these caches.
    Caches(Vec<String>),
    Running,
    Ended,
}

/// A key in a controller's queue, and why it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyState {
    /// The key.
    pub(crate) key: String,
    pub(crate) why: Why,
}

/// Why a key is in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A worker reconciles it.
    Reconciled { since: Option<Instant>, again: bool },
    /// It waits for a worker.
    Queued { since: Option<Instant> },
    /// Its last reconcile failed.
    BackingOff { errors: u64, until: Instant },
    /// It was added rate-limited this often, without a failure.
    RateLimited { times: usize, until: Instant },
    /// A reconcile or an event handler asked for it later.
    RequeueAfter { until: Instant },
}

/// Keys of a queue by their texts; the queue's type of keys is not known to the page.
pub(super) type ReadKeys = Box<dyn Fn(usize) -> (Vec<Placed<String>>, usize) + Send + Sync>;

pub(super) fn read_keys<T: QueueKey + fmt::Debug>(queue: &Queue<T>) -> ReadKeys {
    let queue = queue.clone();
    Box::new(move |most| {
        let (keys, total) = queue.places(most);
        let texts = keys.into_iter().map(|Placed { key, place, requeues }| Placed {
            key: format!("{key:?}"),
            place,
            requeues,
        });
        (texts.collect(), total)
    })
}

impl Why {
    /// Reports whether the key waits for a worker.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(self, Why::Queued { .. })
    }

    /// `since` is the begin of the key's reconcile. `errors` counts its failures since the last success; `None` if they are
    /// not known, because too many keys fail.
    pub(super) fn new(place: Place, requeues: usize, since: Option<Instant>, errors: Option<u64>) -> Self {
        let until = match place {
            Place::Processing { again, .. } => return Why::Reconciled { since, again },
            Place::Ready { since } => return Why::Queued { since: since.map(Instant::from_std) },
            Place::Delayed { until } => Instant::from_std(until),
        };
        match (errors, requeues) {
            (Some(0), 0) | (None, 0) => Why::RequeueAfter { until },
            (Some(0), times) => Why::RateLimited { times, until },
            (Some(errors), _) => Why::BackingOff { errors, until },
            (None, times) => Why::BackingOff { errors: times as u64, until },
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Reconciled { since, again } => {
                f.write_str("being reconciled")?;
                if let Some(since) = since {
                    write!(f, " since {}", At(*since))?;
                }
                f.write_str(if *again { "; queued again" } else { "" })
            }
            Why::Queued { since: None } => f.write_str("queued"),
            Why::Queued { since: Some(since) } => write!(f, "queued since {}", At(*since)),
            Why::BackingOff { errors, until } => {
                write!(f, "backing off after error {errors} until {}", At(*until))
            }
            Why::RateLimited { times, until } => {
                write!(f, "rate limited {times} times, until {}", At(*until))
            }
            Why::RequeueAfter { until } => write!(f, "requeue-after until {}", At(*until)),
        }
    }
}

/// A time as wall clock, and how far away it is.
pub(crate) struct At(pub(crate) Instant);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = Instant::now();
        let (ahead, ago) = (self.0.saturating_duration_since(now), now.saturating_duration_since(self.0));
        let far = SignedDuration::try_from(ahead).unwrap_or_default()
            - SignedDuration::try_from(ago).unwrap_or_default();
        if let Ok(time) = Timestamp::now().checked_add(far) {
            write!(f, "{time:.0} ")?;
        }
        let seconds = |duration: Duration| format!("{:.1} s", duration.as_secs_f64());
        match ahead.is_zero() {
            true => write!(f, "({} ago)", seconds(ago)),
            false => write!(f, "(in {})", seconds(ahead)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn reason_follows_from_place_and_failures() {
        let now = Instant::now();
        let (until, second) = (now + Duration::from_secs(12), Duration::from_secs(1));
        tokio::time::advance(second).await;
        let delayed = Place::Delayed { until: until.into_std() };
        for (why, text) in [
            (
                Why::new(Place::Processing { again: true, until: None }, 3, Some(now), Some(1)),
                "being reconciled since _ (1.0 s ago); queued again",
            ),
            (Why::new(Place::Processing { again: false, until: None }, 0, None, None), "being reconciled"),
            (Why::new(Place::Ready { since: None }, 1, None, Some(1)), "queued"),
            (
                Why::new(Place::Ready { since: Some(now.into_std()) }, 0, None, None),
                "queued since _ (1.0 s ago)",
            ),
            (Why::new(delayed, 4, None, Some(3)), "backing off after error 3 until _ (in 11.0 s)"),
            (Why::new(delayed, 4, None, None), "backing off after error 4 until _ (in 11.0 s)"),
            (Why::new(delayed, 0, None, Some(2)), "backing off after error 2 until _ (in 11.0 s)"),
            (Why::new(delayed, 2, None, Some(0)), "rate limited 2 times, until _ (in 11.0 s)"),
            (Why::new(delayed, 0, None, Some(0)), "requeue-after until _ (in 11.0 s)"),
            (Why::new(delayed, 0, None, None), "requeue-after until _ (in 11.0 s)"),
        ] {
            let shown = why.to_string();
            let words: Vec<&str> = shown
                .split(' ')
                .map(|word| if word.parse::<Timestamp>().is_ok() { "_" } else { word })
                .collect();
            assert_eq!(words.join(" "), text);
        }
    }
}
