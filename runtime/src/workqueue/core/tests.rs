//! The core against a model that keeps plain lists and searches them.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// The rules of client-go's documentation, implemented naively.
#[derive(Default)]
struct Model {
    /// Ready keys with their priority, in the order in which they became ready.
    queue: Vec<(u8, i32)>,
    processing: Vec<u8>,
    /// Keys added while processed, with their priority.
    dirty: Vec<(u8, i32)>,
    /// Delayed keys: deadline, arrival, priority.
    delayed: Vec<(u8, u64, usize, i32)>,
    arrivals: usize,
    shut_down: bool,
}

impl Model {
    fn add(&mut self, key: u8, priority: i32) {
        if self.shut_down {
            return;
        }
        if self.processing.contains(&key) {
            match self.dirty.iter_mut().find(|(other, _)| *other == key) {
                Some((_, known)) => *known = priority.max(*known),
                None => self.dirty.push((key, priority)),
            }
            return;
        }
        match self.queue.iter().position(|(other, _)| *other == key) {
            Some(at) if self.queue[at].1 >= priority => {}
            Some(at) => {
                self.queue.remove(at);
                self.queue.push((key, priority));
            }
            None => self.queue.push((key, priority)),
        }
    }

    fn add_at(&mut self, key: u8, deadline: u64, priority: i32) {
        if self.shut_down {
            return;
        }
        self.arrivals += 1;
        let arrival = self.arrivals;
        match self.delayed.iter_mut().find(|(other, ..)| *other == key) {
            Some(known) => {
                known.3 = known.3.max(priority);
                if deadline < known.1 {
                    (known.1, known.2) = (deadline, arrival);
                }
            }
            None => self.delayed.push((key, deadline, arrival, priority)),
        }
    }

    fn promote(&mut self, now: u64) {
        self.delayed.sort_by_key(|(_, deadline, arrival, _)| (*deadline, *arrival));
        let due = self.delayed.partition_point(|(_, deadline, ..)| *deadline <= now);
        for (key, _, _, priority) in self.delayed.drain(..due).collect::<Vec<_>>() {
            self.add(key, priority);
        }
    }

    fn pop(&mut self) -> Option<u8> {
        let highest = self.queue.iter().map(|(_, priority)| *priority).max()?;
        let at = self.queue.iter().position(|(_, priority)| *priority == highest)?;
        let (key, _) = self.queue.remove(at);
        self.processing.push(key);
        Some(key)
    }

    fn done(&mut self, key: u8) {
        self.processing.retain(|other| *other != key);
        if let Some(at) = self.dirty.iter().position(|(other, _)| *other == key) {
            let (key, priority) = self.dirty.remove(at);
            self.queue.push((key, priority));
        }
    }

    fn shut_down(&mut self) {
        self.shut_down = true;
        self.delayed.clear();
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Add(u8, i32),
    AddAfter(u8, u64, i32),
    Advance(u64),
    Pop,
    /// Ends the processing of the n-th key.
    Done(usize),
    ShutDown,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let key = 0..6_u8;
    let priority = prop_oneof![4 => Just(0), 1 => Just(-100), 1 => Just(7)];
    prop::collection::vec(
        prop_oneof![
            8 => (key.clone(), priority.clone()).prop_map(|(key, priority)| Op::Add(key, priority)),
            6 => (key, 1..40_u64, priority).prop_map(|(key, delay, priority)| Op::AddAfter(key, delay, priority)),
            4 => (1..30_u64).prop_map(Op::Advance),
            8 => Just(Op::Pop),
            6 => (0..6_usize).prop_map(Op::Done),
            1 => prop::bool::weighted(0.05).prop_map(|yes| if yes { Op::ShutDown } else { Op::Pop }),
        ],
        0..200,
    )
}

/// One hash for two keys each, so that collisions occur.
fn hash(key: u8) -> u64 {
    u64::from(key / 2)
}

struct Rig {
    core: Core<u8>,
    model: Model,
    start: Instant,
    now: u64,
    /// Keys in processing, with their slots.
    work: Vec<(u8, SlotId)>,
}

impl Rig {
    fn at(&self, seconds: u64) -> Instant {
        self.start + Duration::from_secs(seconds)
    }

    fn apply(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Add(key, priority) => {
                self.core.add(hash(key), key, priority, None);
                self.model.add(key, priority);
            }
            Op::AddAfter(key, delay, priority) => {
                self.core.add_at(hash(key), key, priority, self.at(self.now + delay));
                self.model.add_at(key, self.now + delay, priority);
            }
            Op::Advance(seconds) => {
                self.now += seconds;
                let waiting = self.core.len();
                let ready = self.core.promote(self.at(self.now));
                prop_assert_eq!(self.core.len(), waiting + ready);
                self.model.promote(self.now);
            }
            Op::Pop => {
                let popped = self.core.pop(None);
                prop_assert_eq!(popped.as_ref().map(|popped| popped.key), self.model.pop());
                if let Some(popped) = popped {
                    prop_assert!(self.work.iter().all(|(key, _)| *key != popped.key), "handed out twice");
                    self.work.push((popped.key, popped.slot));
                }
            }
            Op::Done(at) => {
                if let Some(at) = at.checked_rem(self.work.len()) {
                    let (key, slot) = self.work.remove(at);
                    self.core.done(slot, None);
                    self.model.done(key);
                }
            }
            Op::ShutDown => {
                self.core.shut_down();
                self.model.shut_down();
            }
        }
        prop_assert_eq!(self.core.len(), self.model.queue.len());
        prop_assert_eq!(self.core.processing(), self.model.processing.len());
        prop_assert_eq!(self.core.delayed(), self.model.delayed.len());
        let earliest = self.model.delayed.iter().map(|(_, deadline, ..)| *deadline).min();
        prop_assert_eq!(self.core.next_deadline(), earliest.map(|deadline| self.at(deadline)));
        Ok(())
    }
}

proptest! {
    #[test]
    fn core_equals_the_model(ops in ops()) {
        let mut rig =
            Rig { core: Core::new(), model: Model::default(), start: Instant::now(), now: 0, work: Vec::new() };
        for op in ops {
            rig.apply(op)?;
        }
        // Drain the queue: no key is lost, and no memory is kept.
        rig.apply(Op::Advance(1000))?;
        while rig.core.len() + rig.core.processing() > 0 {
            rig.apply(Op::Pop)?;
            rig.apply(Op::Done(0))?;
        }
        prop_assert!(rig.core.index.is_empty());
        prop_assert!(rig.core.slots.iter().all(Option::is_none));
    }
}

proptest! {
    /// Fairness among keys of one priority: while a key waits, each other key is handed out at most once, however
    /// often it is added, delayed or done meanwhile.
    #[test]
    fn other_keys_overtake_a_waiting_key_at_most_once(ops in ops()) {
        let mut core = Core::new();
        let start = Instant::now();
        let (mut now, mut work) = (start, Vec::new());
        // For each waiting key, the keys handed out since it was added.
        let mut overtaken: std::collections::BTreeMap<u8, Vec<u8>> = std::collections::BTreeMap::new();
        for op in ops {
            match op {
                Op::Add(key, _) => {
                    core.add(hash(key), key, 0, None);
                }
                Op::AddAfter(key, delay, _) => {
                    core.add_at(hash(key), key, 0, now + Duration::from_secs(delay));
                }
                Op::Advance(seconds) => {
                    now += Duration::from_secs(seconds);
                    core.promote(now);
                }
                Op::Pop => {
                    if let Some(popped) = core.pop(None) {
                        overtaken.remove(&popped.key);
                        overtaken.values_mut().for_each(|others| others.push(popped.key));
                        work.push(popped.slot);
                    }
                }
                Op::Done(at) => {
                    if let Some(at) = at.checked_rem(work.len()) {
                        core.done(work.remove(at), None);
                    }
                }
                Op::ShutDown => {}
            }
            for slot in core.slots.iter().flatten().filter(|slot| slot.ticket != NOT_QUEUED) {
                overtaken.entry(slot.key).or_default();
            }
            for (key, others) in &overtaken {
                let mut distinct = others.clone();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(distinct.len(), others.len(), "{} waited for {:?}", key, others);
            }
        }
    }
}

#[test]
fn overtaken_entries_do_not_accumulate() {
    let mut core = Core::new();
    let start = Instant::now();
    core.add(1, "busy", 0, None);
    for round in 0..10_000_u64 {
        core.add(0, "a", -100, None);
        core.add(0, "a", 0, None);
        core.add_at(1, "b", 0, start + Duration::from_secs(20_000 - round));
        let (busy, a) = (core.pop(None).unwrap(), core.pop(None).unwrap());
        assert_eq!((busy.key, a.key), ("busy", "a"));
        core.add(1, "busy", 0, None);
        core.done(busy.slot, None);
        core.done(a.slot, None);
    }
    let listed = core.normal.len() + core.others.values().map(VecDeque::len).sum::<usize>();
    assert!(listed < 200, "{listed} entries for {} keys", core.len());
    assert!(core.heap.len() < 200, "{} entries for one delay", core.heap.len());
}

#[test]
fn overflowing_delay_is_capped() {
    let now = Instant::now();
    assert!(deadline(now, Duration::MAX) > now + Duration::from_secs(86_400 * 365));
}

#[test]
fn slot_fills_one_cache_line() {
    assert_eq!(size_of::<Option<Slot<std::sync::Arc<str>>>>(), 64);
}
