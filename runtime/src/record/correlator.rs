//! Which events are written, and how: client-go's correlation without I/O.
//!
//! Three steps, each with a bounded memory. Aggregate: when ten events within 600 s differ only in their message, the
//! tenth and those after it become one. Count: an event seen before is a patch of its count. Filter: each source may
//! write 25 events about one object at once, then one per 300 s.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::lru::Lru;

/// Begins the message of an event that stands for several (client-go's text, which tools look for).
const AGGREGATE_PREFIX: &str = "(combined from similar events): ";

/// Limits of the correlation; the default is client-go's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CorrelatorOptions {
    /// How many aggregates, events and sources are remembered (4096 each).
    pub cache_size: usize,
    /// From how many events on, differing only in their message, they become one (10).
    pub max_similar: usize,
    /// Within what time (600 s).
    pub similar_interval: Duration,
    /// How many events a source may write about one object at once (25).
    pub burst: u32,
    /// After what time it may write one more (300 s).
    pub refill: Duration,
}

impl Default for CorrelatorOptions {
    fn default() -> Self {
        CorrelatorOptions {
            cache_size: 4096,
            max_similar: 10,
            similar_interval: Duration::from_secs(600),
            burst: 25,
            refill: Duration::from_secs(300),
        }
    }
}

/// What is to be done with an event. [`EventCorrelator`] has an example.
#[derive(Clone, Debug, PartialEq)]
pub enum Correlation {
    /// Write it as a new object.
    Create {
        /// For [`EventCorrelator::stored`].
        key: String,
        /// The event to create.
        event: Box<Event>,
    },
    /// Raise the count of one that was written before: patch `count`, `lastTimestamp` and `message`. Where it is gone
    /// meanwhile, create it.
    Patch {
        /// For [`EventCorrelator::stored`].
        key: String,
        /// The event as it is to be.
        event: Box<Event>,
    },
    /// Write nothing: its source says too much about its object.
    Skip,
}

/// Remembers what was recorded lately.
///
/// ```
/// use std::time::Instant;
/// use k8s_openapi::api::core::v1::Event;
/// use kubesmith_runtime::record::{Correlation, CorrelatorOptions, EventCorrelator};
///
/// let mut correlator = EventCorrelator::new(CorrelatorOptions::default());
/// let pulled = Event { count: Some(1), message: Some("pulled".to_owned()), ..Event::default() };
/// let now = Instant::now();
/// let Correlation::Create { key, event } = correlator.on(now, pulled.clone()) else { unreachable!("it is new") };
/// // The server may have changed it.
/// correlator.stored(&key, &event);
/// let Correlation::Patch { event, .. } = correlator.on(now, pulled) else { unreachable!("it was seen before") };
/// assert_eq!(event.count, Some(2));
/// ```
#[derive(Debug)]
pub struct EventCorrelator {
    options: CorrelatorOptions,
    similar: Lru<Similar>,
    observed: Lru<Observed>,
    sources: Lru<Tokens>,
}

/// Events that differ only in their message.
#[derive(Debug)]
struct Similar {
    messages: BTreeSet<String>,
    last: Instant,
}

/// What was written under one key.
#[derive(Clone, Debug, Default)]
struct Observed {
    count: i32,
    first_timestamp: Option<Time>,
    name: Option<String>,
}

#[derive(Debug)]
struct Tokens {
    left: f64,
    updated: Instant,
}

impl EventCorrelator {
    /// A correlator that has seen nothing.
    pub fn new(options: CorrelatorOptions) -> Self {
        let size = options.cache_size;
        EventCorrelator {
            options,
            similar: Lru::new(size),
            observed: Lru::new(size),
            sources: Lru::new(size),
        }
    }

    /// Takes an event that was recorded at `now` and says what to do. The event has a name, a count of one and its
    /// timestamps; where it is written, it may have become another one.
    pub fn on(&mut self, now: Instant, event: Event) -> Correlation {
        let source = source_key(&event);
        let (key, mut event) = self.aggregate(now, event);
        let seen = self.observed.entry(&key, Observed::default);
        let is_known = seen.count > 0;
        if is_known {
            event.metadata.name.clone_from(&seen.name);
            event.first_timestamp.clone_from(&seen.first_timestamp);
            event.count = Some(seen.count.saturating_add(1));
        }
        *seen = Observed {
            count: event.count.unwrap_or(1),
            first_timestamp: event.first_timestamp.clone(),
            name: event.metadata.name.clone(),
        };
        if !self.may_write(now, &source) {
            return Correlation::Skip;
        }
        let event = Box::new(event);
        if is_known { Correlation::Patch { key, event } } else { Correlation::Create { key, event } }
    }

    /// Tells what the server stored for a [`Correlation`] of this key, so that the next patch meets it.
    pub fn stored(&mut self, key: &str, event: &Event) {
        let seen = self.observed.entry(key, Observed::default);
        *seen = Observed {
            count: event.count.unwrap_or(1),
            first_timestamp: event.first_timestamp.clone(),
            name: event.metadata.name.clone(),
        };
    }

    /// The event, or the one it is combined into, and the key under which it is counted.
    fn aggregate(&mut self, now: Instant, mut event: Event) -> (String, Event) {
        let similar_key = similar_key(&event);
        let message = event.message.clone().unwrap_or_default();
        let fresh = || Similar { messages: BTreeSet::new(), last: now };
        let similar = self.similar.entry(&similar_key, fresh);
        if now.saturating_duration_since(similar.last) > self.options.similar_interval {
            similar.messages.clear();
        }
        similar.last = now;
        similar.messages.insert(message.clone());
        if similar.messages.len() < self.options.max_similar {
            return (event_key(&similar_key, &event), event);
        }
        similar.messages.pop_first();
        event.message = Some(format!("{AGGREGATE_PREFIX}{message}"));
        (similar_key, event)
    }

    /// Takes one of the source's tokens.
    fn may_write(&mut self, now: Instant, source: &str) -> bool {
        let burst = f64::from(self.options.burst);
        let tokens = self.sources.entry(source, || Tokens { left: burst, updated: now });
        let elapsed = now.saturating_duration_since(tokens.updated).as_secs_f64();
        let refill = self.options.refill.as_secs_f64();
        if refill > 0.0 {
            tokens.left = (tokens.left + elapsed / refill).min(burst);
        }
        tokens.updated = tokens.updated.max(now);
        let may = tokens.left >= 1.0;
        if may {
            tokens.left -= 1.0;
        }
        may
    }
}

impl Default for EventCorrelator {
    fn default() -> Self {
        Self::new(CorrelatorOptions::default())
    }
}

/// Parts of a key, separated so that no two lists of parts give the same key.
fn join<'a>(parts: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let parts: Vec<&str> = parts.into_iter().map(Option::unwrap_or_default).collect();
    parts.join("\0")
}

fn source_of(event: &Event) -> [Option<&str>; 2] {
    let source: Option<&EventSource> = event.source.as_ref();
    [source.and_then(|source| source.component.as_deref()), source.and_then(|source| source.host.as_deref())]
}

fn object_of(object: &ObjectReference) -> [Option<&str>; 5] {
    [
        object.kind.as_deref(),
        object.namespace.as_deref(),
        object.name.as_deref(),
        object.uid.as_deref(),
        object.api_version.as_deref(),
    ]
}

/// Who says something of a type about which object.
fn source_key(event: &Event) -> String {
    join(
        source_of(event).into_iter().chain(object_of(&event.involved_object)).chain([event.type_.as_deref()]),
    )
}

/// All but the message.
fn similar_key(event: &Event) -> String {
    let rest =
        [event.reason.as_deref(), event.reporting_component.as_deref(), event.reporting_instance.as_deref()];
    join([Some(source_key(event).as_str())].into_iter().chain(rest))
}

/// All that makes an event the same.
fn event_key(similar_key: &str, event: &Event) -> String {
    join([Some(similar_key), event.involved_object.field_path.as_deref(), event.message.as_deref()])
}
