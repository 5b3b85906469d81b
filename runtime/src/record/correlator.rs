//! Decides which events are written, and how: client-go's correlation without I/O.
//!
//! There are three steps, each with bounded memory. Aggregate: of events within 600 s that differ only in their
//! message, the tenth and later ones become one event. Count: a repeated event becomes a patch of its count.
//! Filter: each source may write 25 events about one object at once, then one per 300 s.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use lru::LruCache;

/// The prefix of the message of an event that combines several (client-go's text, which tools search for).
const AGGREGATE_PREFIX: &str = "(combined from similar events): ";

/// Limits of the correlation; client-go's by default.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CorrelatorOptions {
    /// The number of remembered aggregates, events and sources (4096 each).
    pub cache_size: usize,
    /// The number of events, differing only in their message, that become one (10).
    pub max_similar: usize,
    /// The time within which they count as similar (600 s).
    pub similar_interval: Duration,
    /// The number of events that a source may write about one object at once (25).
    pub burst: u32,
    /// The time after which it may write one more (300 s).
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

/// The decision about an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Correlation {
    /// Create the event.
    Create {
        /// The key for [`EventCorrelator::stored`].
        key: String,
        /// The event to create.
        event: Box<Event>,
    },
    /// Raise the count of an existing event: patch `count`, `lastTimestamp` and `message`. If the event no longer
    /// exists, create it.
    Patch {
        /// The key for [`EventCorrelator::stored`].
        key: String,
        /// The event after the patch.
        event: Box<Event>,
    },
    /// Do not write: the source repeats itself too often about this object.
    Skip,
}

/// Remembers recent events.
#[derive(Debug)]
pub(super) struct EventCorrelator {
    options: CorrelatorOptions,
    similar: LruCache<String, Similar>,
    observed: LruCache<String, Observed>,
    sources: LruCache<String, Tokens>,
}

/// Recent events that differ only in their message.
#[derive(Debug)]
struct Similar {
    messages: BTreeSet<String>,
    last: Instant,
}

/// The last event with a key.
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
    /// Makes a correlator without history.
    pub(super) fn new(options: CorrelatorOptions) -> Self {
        let size = NonZeroUsize::new(options.cache_size).unwrap_or(NonZeroUsize::MIN);
        EventCorrelator { options, similar: lru(size), observed: lru(size), sources: lru(size) }
    }

    /// Decides about an event that was recorded at `now`. The event has a name, a count of one and its timestamps;
    /// the event to write may differ from it.
    pub(super) fn on(&mut self, now: Instant, event: Event) -> Correlation {
        let source = source_key(&event);
        let (key, mut event) = self.aggregate(now, event);
        let seen = self.observed.get_or_insert_mut_ref(&key, Observed::default);
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

    /// Records the event that the server stored for a [`Correlation`] with this key, so that the next patch applies
    /// to it.
    pub(super) fn stored(&mut self, key: &str, event: &Event) {
        let seen = self.observed.get_or_insert_mut_ref(key, Observed::default);
        *seen = Observed {
            count: event.count.unwrap_or(1),
            first_timestamp: event.first_timestamp.clone(),
            name: event.metadata.name.clone(),
        };
    }

    /// Returns the event, or the one it is combined into, and the key under which it is counted.
    fn aggregate(&mut self, now: Instant, mut event: Event) -> (String, Event) {
        let similar_key = similar_key(&event);
        let message = event.message.clone().unwrap_or_default();
        let fresh = || Similar { messages: BTreeSet::new(), last: now };
        let similar = self.similar.get_or_insert_mut_ref(&similar_key, fresh);
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

    /// Takes one of the source's tokens, if it has any.
    fn may_write(&mut self, now: Instant, source: &str) -> bool {
        let burst = f64::from(self.options.burst);
        let tokens = self.sources.get_or_insert_mut_ref(source, || Tokens { left: burst, updated: now });
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

/// Returns an empty cache, without the memory that it may need later.
fn lru<V>(size: NonZeroUsize) -> LruCache<String, V> {
    let mut cache = LruCache::unbounded();
    cache.resize(size);
    cache
}

/// Joins parts of a key so that different lists of parts give different keys.
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

/// The key of events of one type by one source about one object.
fn source_key(event: &Event) -> String {
    join(
        source_of(event).into_iter().chain(object_of(&event.involved_object)).chain([event.type_.as_deref()]),
    )
}

/// The key of events that differ only in their message.
fn similar_key(event: &Event) -> String {
    let rest =
        [event.reason.as_deref(), event.reporting_component.as_deref(), event.reporting_instance.as_deref()];
    join([Some(source_key(event).as_str())].into_iter().chain(rest))
}

/// The key of equal events.
fn event_key(similar_key: &str, event: &Event) -> String {
    join([Some(similar_key), event.involved_object.field_path.as_deref(), event.message.as_deref()])
}

#[cfg(test)]
mod tests;
