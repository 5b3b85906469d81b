//! Which events are written, and how: client-go's series without I/O.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// Limits of the series; the default is client-go's, which has no limit of the size.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeriesOptions {
    /// How many events are remembered (4096). The one that was seen longest ago ends where there are more.
    pub cache_size: usize,
    /// After what time a series that goes on is written again (30 min).
    pub refresh: Duration,
    /// After what time without the event its series ends (6 min).
    pub finish: Duration,
}

impl Default for SeriesOptions {
    fn default() -> Self {
        Self { cache_size: 4096, refresh: Duration::from_secs(1800), finish: Duration::from_secs(360) }
    }
}

/// What is to be written. [`SeriesCorrelator`] has an example.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesWrite {
    /// A new event.
    Create(Box<Event>),
    /// The series of an event that was written before: patch `series`. Where it is gone meanwhile, create it.
    Patch(Box<Event>),
}

/// Remembers what was recorded lately.
///
/// Two events are the same if they agree in type, action, reason, reporter and both objects; the note does not count.
///
/// ```
/// use k8s_openapi::api::events::v1::Event;
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
/// use k8s_openapi::jiff::Timestamp;
/// use kubesmith_runtime::events::{SeriesCorrelator, SeriesOptions, SeriesWrite};
///
/// let at = |second| Timestamp::constant(second, 0);
/// let pulled = |second| Event { event_time: Some(MicroTime(at(second))), ..Event::default() };
/// let mut correlator = SeriesCorrelator::new(SeriesOptions::default());
/// assert!(matches!(correlator.on(pulled(0))[..], [SeriesWrite::Create(_)]));
/// assert!(matches!(correlator.on(pulled(1))[..], [SeriesWrite::Patch(_)]), "a series begins");
/// assert!(correlator.on(pulled(2)).is_empty(), "it goes on");
/// assert_eq!(correlator.refresh().len(), 1, "every half an hour");
/// assert_eq!(correlator.finish(at(600)).len(), 1, "it has ended");
/// assert!(correlator.finish_all().is_empty(), "nothing is left to be told");
/// ```
#[derive(Debug)]
pub struct SeriesCorrelator {
    options: SeriesOptions,
    events: BTreeMap<Key, Event>,
}

type Key = Vec<Option<String>>;

impl SeriesCorrelator {
    /// A correlator that has seen nothing.
    #[must_use]
    pub fn new(options: SeriesOptions) -> Self {
        Self { options, events: BTreeMap::new() }
    }

    /// Takes an event that was recorded now (its `event_time`) and says what to write.
    pub fn on(&mut self, event: Event) -> Vec<SeriesWrite> {
        let key = key(&event);
        let Some(known) = self.events.get_mut(&key) else {
            let mut writes = self.make_room();
            self.events.insert(key, event.clone());
            writes.push(SeriesWrite::Create(Box::new(event)));
            return writes;
        };
        let now = event.event_time.unwrap_or(MicroTime(Timestamp::UNIX_EPOCH));
        if let Some(series) = &mut known.series {
            series.count = series.count.saturating_add(1);
            series.last_observed_time = now;
            return Vec::new();
        }
        known.series = Some(EventSeries { count: 2, last_observed_time: now });
        vec![SeriesWrite::Patch(Box::new(known.clone()))]
    }

    /// Series that go on; to be called every [`SeriesOptions::refresh`].
    #[must_use]
    pub fn refresh(&self) -> Vec<SeriesWrite> {
        self.events.values().filter_map(write_series).collect()
    }

    /// Series that have ended by `now`, for the last time; to be called every [`SeriesOptions::finish`].
    pub fn finish(&mut self, now: Timestamp) -> Vec<SeriesWrite> {
        let patience = SignedDuration::try_from(self.options.finish).unwrap_or(SignedDuration::MAX);
        let mut writes = Vec::new();
        self.events.retain(|_, event| {
            let has_ended = now.duration_since(last_seen(event)) > patience;
            if has_ended {
                writes.extend(write_series(event));
            }
            !has_ended
        });
        writes
    }

    /// Everything that a series still has to tell; nothing is remembered afterwards.
    pub fn finish_all(&mut self) -> Vec<SeriesWrite> {
        std::mem::take(&mut self.events).values().filter_map(write_series).collect()
    }

    fn make_room(&mut self) -> Vec<SeriesWrite> {
        let mut writes = Vec::new();
        while self.events.len() >= self.options.cache_size.max(1) {
            let oldest = self.events.iter().min_by_key(|(_, event)| last_seen(event));
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            writes.extend(self.events.remove(&oldest).as_ref().and_then(write_series));
        }
        writes
    }
}

fn write_series(event: &Event) -> Option<SeriesWrite> {
    event.series.is_some().then(|| SeriesWrite::Patch(Box::new(event.clone())))
}

fn last_seen(event: &Event) -> Timestamp {
    let series = event.series.as_ref().map(|series| series.last_observed_time.0);
    series.or(event.event_time.as_ref().map(|time| time.0)).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn key(event: &Event) -> Key {
    let mut key = vec![
        event.type_.clone(),
        event.action.clone(),
        event.reason.clone(),
        event.reporting_controller.clone(),
        event.reporting_instance.clone(),
    ];
    for object in [&event.regarding, &event.related] {
        let object = object.clone().unwrap_or_default();
        let ObjectReference { api_version, field_path, kind, name, namespace, resource_version, uid } =
            object;
        key.extend([api_version, field_path, kind, name, namespace, resource_version, uid]);
    }
    key
}

#[cfg(test)]
mod tests;
