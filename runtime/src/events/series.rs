//! Decides which events are written, and how: client-go's series without I/O.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

/// Limits of the series; client-go's by default, which has no limit of the size.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeriesOptions {
    /// The number of remembered events (4096). Beyond it, the series of the oldest event ends.
    pub cache_size: usize,
    /// The time after which a continuing series is written again (30 min).
    pub refresh: Duration,
    /// The time without the event after which its series ends (6 min).
    pub finish: Duration,
}

impl Default for SeriesOptions {
    fn default() -> Self {
        Self { cache_size: 4096, refresh: Duration::from_secs(1800), finish: Duration::from_secs(360) }
    }
}

/// The write for an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SeriesWrite {
    /// Create the event.
    Create(Box<Event>),
    /// Patch `series` of an existing event. If it no longer exists, create it.
    Patch(Box<Event>),
}

/// Remembers recent events.
///
/// Two events are the same if type, action, reason, reporter and both objects agree; the note does not count.
#[derive(Debug)]
pub(super) struct SeriesCorrelator {
    options: SeriesOptions,
    events: BTreeMap<Key, Event>,
}

type Key = Vec<Option<String>>;

impl SeriesCorrelator {
    /// Makes a correlator without history.
    pub(super) fn new(options: SeriesOptions) -> Self {
        Self { options, events: BTreeMap::new() }
    }

    /// Decides about an event that was recorded now (its `event_time`).
    pub(super) fn on(&mut self, event: Event) -> Vec<SeriesWrite> {
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

    /// Returns the writes of continuing series. Call it every [`SeriesOptions::refresh`].
    pub(super) fn refresh(&self) -> Vec<SeriesWrite> {
        self.events.values().filter_map(write_series).collect()
    }

    /// Returns the last writes of series that have ended by `now`. Call it every [`SeriesOptions::finish`].
    pub(super) fn finish(&mut self, now: Timestamp) -> Vec<SeriesWrite> {
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

    /// Returns the last writes of all series and forgets them.
    pub(super) fn finish_all(&mut self) -> Vec<SeriesWrite> {
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
