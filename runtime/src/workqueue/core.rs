//! The queue without I/O: which keys are ready, processed or delayed.
//!
//! Inputs are method calls with the time passed in; outputs are their return values. The core does not know tasks,
//! wakers or locks. A key has one slot while it is queued, processed or delayed. The FIFO and the heap refer to
//! slots by number, so a key is hashed once per `add` and cloned once per `pop`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

use hashbrown::HashTable;

use super::DEFAULT_PRIORITY;
use super::places::Place;

/// The position of a key in the queue's memory, valid while the key is queued, processed or delayed.
pub(super) type SlotId = u32;

/// The effect of an `add`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The key is ready now, so one more worker has work.
    Ready,
    /// The key is being processed and will be ready when it is done.
    Deferred,
    /// The key was waiting already.
    Duplicate,
    /// The queue is shut down.
    Ignored,
}

/// A key handed out by [`Core::pop`].
#[derive(Debug)]
pub(super) struct Popped<T> {
    pub(super) slot: SlotId,
    pub(super) key: T,
    pub(super) priority: i32,
    /// The time when the key became ready, if times are kept.
    pub(super) queued_at: Option<Instant>,
}

/// Sized to fill one cache line if the key is an `Arc<str>` or an `ObjectKey`.
#[derive(Debug)]
struct Slot<T> {
    key: T,
    hash: u32,
    /// The number of this key's entry in the FIFO; an entry with another number is stale. [`NOT_QUEUED`] if there
    /// is none.
    ticket: u64,
    /// Rare, so it is boxed.
    delay: Option<Box<Delay>>,
    /// The time when the key was queued or its processing began, if times are kept.
    since: Option<Instant>,
    /// The priority of the queued entry, or of the one to queue after `done`.
    priority: i32,
    processing: bool,
    /// The key was added while it was processed.
    dirty: bool,
}

/// No ticket has this number.
const NOT_QUEUED: u64 = 0;

#[derive(Clone, Copy, Debug)]
struct Delay {
    deadline: Instant,
    /// The number of the entry in the heap; an entry with another number is stale.
    ticket: u64,
    priority: i32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    slot: SlotId,
    ticket: u64,
}

/// A key's slot with part of its hash, so that a look-up seldom touches the slot of another key.
#[derive(Clone, Copy, Debug)]
struct Indexed {
    slot: SlotId,
    hash: u32,
}

/// Expands the hash to 64 bits, because the table uses both its upper and lower bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The order of the heap: by deadline, then by arrival.
type HeapEntry = Reverse<(Instant, u64, SlotId)>;

/// The state of one queue.
#[derive(Debug)]
pub(super) struct Core<T> {
    slots: Vec<Option<Slot<T>>>,
    free: Vec<SlotId>,
    index: HashTable<Indexed>,
    /// Keys of [`DEFAULT_PRIORITY`], which are nearly all keys.
    normal: VecDeque<Entry>,
    /// Keys of other priorities, the highest first. Empty lists are removed.
    others: BTreeMap<Reverse<i32>, VecDeque<Entry>>,
    heap: BinaryHeap<HeapEntry>,
    /// The number of FIFO entries that are stale because their priority was raised.
    stale: usize,
    queued: usize,
    processing: usize,
    delayed: usize,
    adds: u64,
    next_ticket: u64,
    shut_down: bool,
}

impl<T: Eq + Clone> Core<T> {
    pub(super) fn new() -> Self {
        Core {
            slots: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            normal: VecDeque::new(),
            others: BTreeMap::new(),
            heap: BinaryHeap::new(),
            stale: 0,
            queued: 0,
            processing: 0,
            delayed: 0,
            adds: 0,
            next_ticket: 0,
            shut_down: false,
        }
    }

    /// Returns the number of ready keys.
    pub(super) fn len(&self) -> usize {
        self.queued
    }

    /// Returns the numbers of ready keys by priority, the highest first. [`DEFAULT_PRIORITY`] is always included.
    pub(super) fn depths(&self) -> Vec<(i32, usize)> {
        let live = |list: &VecDeque<Entry>| list.iter().filter(|entry| self.is_queued(entry)).count();
        let lists = self.others.iter().map(|(Reverse(priority), list)| (*priority, live(list)));
        let mut depths: Vec<_> = lists.filter(|(_, depth)| *depth > 0).collect();
        let place = depths.partition_point(|(priority, _)| *priority > DEFAULT_PRIORITY);
        depths.insert(place, (DEFAULT_PRIORITY, live(&self.normal)));
        depths
    }

    /// Reports whether this is the key's current entry.
    fn is_queued(&self, entry: &Entry) -> bool {
        self.slots[entry.slot as usize].as_ref().is_some_and(|slot| slot.ticket == entry.ticket)
    }

    /// Returns the number of keys in processing.
    pub(super) fn processing(&self) -> usize {
        self.processing
    }

    /// Returns the number of delayed keys.
    pub(super) fn delayed(&self) -> usize {
        self.delayed
    }

    /// Returns the number of adds that were neither duplicates nor ignored.
    pub(super) fn adds(&self) -> u64 {
        self.adds
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Makes `key` ready. `now` is only stored for [`Popped::queued_at`].
    pub(super) fn add(&mut self, hash: u64, key: T, priority: i32, now: Option<Instant>) -> Added {
        if self.shut_down {
            return Added::Ignored;
        }
        let slot = self.slot_for(hash, key);
        self.make_ready(slot, priority, now)
    }

    /// Makes `key` ready at `deadline`, or at its earlier deadline if it has one.
    pub(super) fn add_at(&mut self, hash: u64, key: T, priority: i32, deadline: Instant) -> Added {
        if self.shut_down {
            return Added::Ignored;
        }
        let ticket = self.take_ticket();
        let id = self.slot_for(hash, key);
        let Some(slot) = self.slots[id as usize].as_mut() else { return Added::Ignored };
        match &mut slot.delay {
            Some(delay) if delay.deadline <= deadline => {
                delay.priority = delay.priority.max(priority);
                return Added::Duplicate;
            }
            Some(delay) => **delay = Delay { deadline, ticket, priority: delay.priority.max(priority) },
            None => {
                slot.delay = Some(Box::new(Delay { deadline, ticket, priority }));
                self.delayed += 1;
            }
        }
        self.heap.push(Reverse((deadline, ticket, id)));
        self.compact_heap();
        Added::Deferred
    }

    /// Returns the earliest deadline.
    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        while let Some(Reverse((deadline, ticket, id))) = self.heap.peek().copied() {
            if self.is_live(id, ticket) {
                return Some(deadline);
            }
            self.heap.pop();
        }
        None
    }

    /// Makes the keys with a passed deadline ready; returns how many were not ready before.
    pub(super) fn promote(&mut self, now: Instant) -> usize {
        let mut ready = 0;
        while let Some(Reverse((deadline, ticket, id))) = self.heap.peek().copied() {
            if !self.is_live(id, ticket) {
                self.heap.pop();
                continue;
            }
            if deadline > now {
                break;
            }
            self.heap.pop();
            let Some(delay) = self.slots[id as usize].as_mut().and_then(|slot| slot.delay.take()) else {
                continue;
            };
            self.delayed -= 1;
            if self.make_ready(id, delay.priority, Some(now)) == Added::Ready {
                ready += 1;
            }
        }
        ready
    }

    /// Hands out the key that has waited longest among those of the highest priority.
    pub(super) fn pop(&mut self, now: Option<Instant>) -> Option<Popped<T>> {
        if self.queued == 0 {
            return None;
        }
        loop {
            let entry = self.next_entry()?;
            let Some(slot) = self.slots[entry.slot as usize].as_mut() else {
                self.stale = self.stale.saturating_sub(1);
                continue;
            };
            if slot.ticket != entry.ticket {
                self.stale = self.stale.saturating_sub(1);
                continue;
            }
            slot.ticket = NOT_QUEUED;
            slot.processing = true;
            let queued_at = std::mem::replace(&mut slot.since, now);
            self.queued -= 1;
            self.processing += 1;
            return Some(Popped {
                slot: entry.slot,
                key: slot.key.clone(),
                priority: slot.priority,
                queued_at,
            });
        }
    }

    /// Ends the processing of a key from [`pop`](Self::pop). Returns whether it is ready again, and when the
    /// processing began if times are kept.
    pub(super) fn done(&mut self, id: SlotId, now: Option<Instant>) -> (bool, Option<Instant>) {
        let Some(slot) = self.slots[id as usize].as_mut().filter(|slot| slot.processing) else {
            return (false, None);
        };
        slot.processing = false;
        let started_at = slot.since.take();
        self.processing -= 1;
        if std::mem::take(&mut slot.dirty) {
            let priority = slot.priority;
            self.enqueue(id, priority, now);
            return (true, started_at);
        }
        self.release(id);
        (false, started_at)
    }

    /// Ignores all later adds and drops the delayed keys.
    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
        self.heap.clear();
        self.delayed = 0;
        for id in 0..self.slots.len() {
            if let Some(slot) = self.slots[id].as_mut()
                && slot.delay.take().is_some()
            {
                self.release(id as SlotId);
            }
        }
    }

    /// Returns when the processing of each key began, in no particular order. Empty if times are not kept.
    pub(super) fn started_at(&self) -> impl Iterator<Item = Instant> + '_ {
        self.slots.iter().flatten().filter(|slot| slot.processing).filter_map(|slot| slot.since)
    }

    /// Returns each key with its place, in no particular order.
    pub(super) fn places(&self) -> impl Iterator<Item = (&T, Place)> {
        self.slots.iter().flatten().filter_map(|slot| {
            let until = slot.delay.as_deref().map(|delay| delay.deadline);
            let place = match until {
                _ if slot.processing => Place::Processing { again: slot.dirty, until },
                _ if slot.ticket != NOT_QUEUED => Place::Ready { since: slot.since },
                until => Place::Delayed { until: until? },
            };
            Some((&slot.key, place))
        })
    }

    fn take_ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket
    }

    fn is_live(&self, id: SlotId, ticket: u64) -> bool {
        let slot = self.slots.get(id as usize).and_then(Option::as_ref);
        slot.and_then(|slot| slot.delay.as_deref()).is_some_and(|delay| delay.ticket == ticket)
    }

    fn slot_for(&mut self, hash: u64, key: T) -> SlotId {
        let hash = (hash >> 32) as u32 ^ hash as u32;
        let slots = &self.slots;
        let found = self.index.find(spread(hash), |known| {
            known.hash == hash && slots[known.slot as usize].as_ref().is_some_and(|slot| slot.key == key)
        });
        if let Some(known) = found {
            return known.slot;
        }
        let slot = Slot {
            key,
            hash,
            ticket: NOT_QUEUED,
            delay: None,
            since: None,
            priority: DEFAULT_PRIORITY,
            processing: false,
            dirty: false,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = Some(slot);
                id
            }
            None => {
                self.slots.push(Some(slot));
                (self.slots.len() - 1) as SlotId
            }
        };
        self.index.insert_unique(spread(hash), Indexed { slot: id, hash }, |known| spread(known.hash));
        id
    }

    fn make_ready(&mut self, id: SlotId, priority: i32, now: Option<Instant>) -> Added {
        let Some(slot) = self.slots[id as usize].as_mut() else { return Added::Ignored };
        if slot.processing {
            let known = std::mem::replace(&mut slot.dirty, true);
            slot.priority = if known { slot.priority.max(priority) } else { priority };
            self.adds += u64::from(!known);
            return if known { Added::Duplicate } else { Added::Deferred };
        }
        if slot.ticket == NOT_QUEUED {
            self.adds += 1;
            self.enqueue(id, priority, now);
            return Added::Ready;
        }
        if priority > slot.priority {
            self.queued -= 1;
            let since = slot.since;
            self.enqueue(id, priority, since);
            self.stale += 1;
            self.compact_lists();
        }
        Added::Duplicate
    }

    fn enqueue(&mut self, id: SlotId, priority: i32, now: Option<Instant>) {
        let ticket = self.take_ticket();
        let Some(slot) = self.slots[id as usize].as_mut() else { return };
        slot.ticket = ticket;
        slot.priority = priority;
        slot.since = now;
        let entry = Entry { slot: id, ticket };
        self.queued += 1;
        if priority == DEFAULT_PRIORITY {
            self.normal.push_back(entry);
        } else {
            self.others.entry(Reverse(priority)).or_default().push_back(entry);
        }
    }

    fn next_entry(&mut self) -> Option<Entry> {
        let Some(mut first) = self.others.first_entry() else { return self.normal.pop_front() };
        if first.key().0 < DEFAULT_PRIORITY
            && let Some(entry) = self.normal.pop_front()
        {
            return Some(entry);
        }
        let entry = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        entry
    }

    /// Frees the slot of a key that is neither queued nor processed nor delayed.
    fn release(&mut self, id: SlotId) {
        let Some(slot) = &self.slots[id as usize] else { return };
        if slot.processing || slot.ticket != NOT_QUEUED || slot.delay.is_some() {
            return;
        }
        if let Ok(found) = self.index.find_entry(spread(slot.hash), |known| known.slot == id) {
            found.remove();
        }
        self.slots[id as usize] = None;
        self.free.push(id);
    }

    /// As [`compact_heap`](Self::compact_heap), for entries that a higher priority overtook.
    fn compact_lists(&mut self) {
        if self.stale <= self.queued + 64 {
            return;
        }
        let slots = &self.slots;
        let is_live = |entry: &Entry| {
            slots[entry.slot as usize].as_ref().is_some_and(|slot| slot.ticket == entry.ticket)
        };
        self.normal.retain(is_live);
        self.others.retain(|_, list| {
            list.retain(is_live);
            !list.is_empty()
        });
        self.stale = 0;
    }

    /// Removes stale entries, which earlier deadlines leave behind, so that they do not accumulate.
    fn compact_heap(&mut self) {
        if self.heap.len() > 2 * self.delayed + 64 {
            let slots = &self.slots;
            self.heap.retain(|Reverse((_, ticket, id))| {
                let slot = slots.get(*id as usize).and_then(Option::as_ref);
                slot.and_then(|slot| slot.delay.as_deref()).is_some_and(|delay| delay.ticket == *ticket)
            });
        }
    }
}

/// Returns `now + delay`, or a time in the far future if the sum overflows.
pub(super) fn deadline(now: Instant, delay: Duration) -> Instant {
    /// About thirty years, as in tokio's timers.
    const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);
    now.checked_add(delay.min(FAR)).unwrap_or(now)
}

#[cfg(test)]
mod tests;
