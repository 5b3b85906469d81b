//! Writes that never end, however slow they are.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::changes::Change;
use super::oracle::Failure;
use super::run::{LONGEST_TICK, Run};
use super::world::World;
use crate::fake::Action;

/// A settled operator is watched for twice this time, or half of it: longer than an hour, a usual pause of controllers.
const SPAN: Duration = Duration::from_secs(4 * 60 * 60);
/// The limit of requests and events in a [`SPAN`], which an operator that polls reaches earlier.
const MOST_MOVES: u64 = 1_000;
/// The least number of changes in each half of a time for writes that never end.
pub(super) const SERIES: usize = 2;
/// As [`SERIES`], for a time without rest.
pub(super) const LONG_SERIES: usize = 100;
/// The machine's time after which a time of a second's precision is another one.
const SECOND: Duration = Duration::from_millis(1_100);

impl Run<'_> {
    /// Lets time go on after a step, and finds writes that never end.
    pub(super) fn endure(&mut self) {
        let begin = self.world.now;
        self.world.endures = true;
        self.pass_span();
        let middle = self.world.now;
        self.world.pause_of_requests = self.world.rates.longest_pause(begin);
        if self.world.changes_of_objects.iter().any(|change| change.at > begin) {
            self.pass_span();
        }
        if let Some(endless) = self.world.endless(begin, middle, SERIES) {
            self.world.fail(endless);
        }
    }

    /// Lets a span pass. The machine's time stands almost still meanwhile, so that an operator that writes it writes the
    /// same second again and again: then a second passes.
    fn pass_span(&mut self) {
        let world = &mut self.world;
        let (begin, moves, mut seconds) = (world.now, world.moves, 0);
        while world.failure.is_none() && world.now - begin < SPAN && world.moves - moves < MOST_MOVES {
            world.pump();
            if std::mem::take(&mut world.sent_time) && seconds < SERIES {
                std::thread::sleep(SECOND);
                seconds += 1;
            }
            world.pass(LONGEST_TICK);
        }
    }
}

impl World {
    /// Returns writes that changed their object at least `least` times in each half of the time since `begin`. Creations
    /// under generated names concern other objects each time.
    pub(super) fn endless(&self, begin: Duration, middle: Duration, least: usize) -> Option<Failure> {
        let mut all: BTreeMap<_, (usize, Vec<&Change>)> = BTreeMap::new();
        for change in self.changes_of_objects.iter().filter(|change| change.at > begin) {
            let (early, late) = all.entry((&change.label, &change.name, change.process)).or_default();
            if change.at > middle {
                late.push(change);
            } else {
                *early += 1;
            }
        }
        let series = all.into_values().filter(|(early, late)| *early >= least && late.len() >= least);
        series.filter_map(|(_, late)| self.endless_series(&late)).next()
    }

    /// Returns the failure of a series, unless its latest writes changed ignored fields only.
    fn endless_series(&self, late: &[&Change]) -> Option<Failure> {
        let [.., before, last] = late else { return None };
        let (kind, mut fields) = self.compared_fields_of(last);
        if fields.is_empty() {
            fields = self.compared_fields_of(before).1;
        }
        let first = fields.first()?;
        let ignore = first.path.split('[').next().unwrap_or_default();
        let (every, what) = ((last.at - before.at).as_secs_f64(), &last.label);
        if self.is_creation(last) {
            return Some(Failure::Endless(format!(
                "{what} creates the object again and again, the last time after {every} s, as it is deleted in between"
            )));
        }
        let lines: String = fields.iter().map(|field| format!("\n  - {field}")).collect();
        Some(Failure::Endless(format!(
            "{what} changes the object again and again, the last time after {every} s:{lines}\n\
             If that is as wanted, leave it out: sim.ignore({kind:?}, {ignore:?})"
        )))
    }

    /// Goes back to the last write that changed other fields than ignored ones.
    pub(super) fn discount_ignored(&mut self) {
        let last = self.changes_of_objects.last().map(|change| change.at);
        if self.spec.ignored.is_empty() || last != Some(self.last_change) {
            return;
        }
        for i in (0..self.changes_of_objects.len()).rev() {
            let change = &self.changes_of_objects[i];
            let at = change.at;
            let is_ignored =
                change.is_ignored.unwrap_or_else(|| self.compared_fields_of(change).1.is_empty());
            self.changes_of_objects[i].is_ignored = Some(is_ignored);
            if !is_ignored {
                self.last_change = at;
                return;
            }
        }
    }
}

/// Reports whether a request sends the machine's time.
pub(super) fn sends_time(action: &Action) -> bool {
    action.body().is_some_and(|body| has_time(body, SystemTime::now()))
}

fn has_time(value: &Value, now: SystemTime) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| has_time(value, now)),
        Value::Array(items) => items.iter().any(|value| has_time(value, now)),
        Value::String(text) => {
            let time = text.parse::<Timestamp>().ok().map(SystemTime::from);
            let apart = |time: SystemTime| now.duration_since(time).unwrap_or_else(|early| early.duration());
            time.is_some_and(|time| apart(time) < 2 * SECOND)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn time_of_the_machine_is_found_in_a_body() {
        let now = SystemTime::now();
        let text = Timestamp::try_from(now).unwrap().to_string();
        assert!(has_time(&json!({"status": {"conditions": [{"at": text}]}}), now));
        assert!(!has_time(
            &json!({"status": {"at": "2020-01-01T00:00:00Z", "text": "now", "count": 1}}),
            now
        ));
    }
}
