//! Own writes that the cache has not shown yet.
//!
//! Versions are compared as numbers, which servers since Kubernetes 1.35 guarantee for the objects of one resource,
//! and older ones do in practice. A version that is not a number is only compared for equality.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::ObjectKey;

/// More writes than this are merged: reads wait for the latest of them.
const MOST_WRITES: usize = 4096;

/// At least this many deletions are kept apart.
const MOST_GONE: usize = 4 * MOST_WRITES;

/// This many deletions of objects with one name are kept apart.
const MOST_DELETIONS: usize = 16;

/// The cache, as far as the record of writes needs it.
pub(super) trait View {
    /// Returns version and uid of an object, if it exists; each is empty if absent.
    fn object(&self, key: &ObjectKey) -> Option<(String, String)>;
    /// Returns the version up to which the cache is complete.
    fn reached(&self) -> String;
}

/// The objects that a read covers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    Object(&'a ObjectKey),
    Namespace(&'a str),
    All,
}

/// The own writes of one kind.
#[derive(Default)]
pub(super) struct Writes(Mutex<Pending>);

#[derive(Default)]
struct Pending {
    by_key: BTreeMap<ObjectKey, Write>,
    /// Every read waits for everything up to this version.
    floor: Option<u64>,
    /// The version of the cache at the last check.
    reached: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Write {
    /// The object with this uid was written at this version.
    Version { version: String, uid: String },
    /// These objects with the name were deleted.
    Gone(Vec<Deleted>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Deleted {
    uid: String,
    /// The cache has shown the object, so its absence means that the cache has seen the deletion.
    was_shown: bool,
    /// A version at which the object existed, or at which it was deleted. If the cache has reached it and does not
    /// show the object, it has seen the deletion.
    existed: Option<u64>,
}

fn number(version: &str) -> Option<u64> {
    version.parse().ok()
}

/// Reports whether a cache at version `has` includes the write with the result `version`.
fn includes(has: &str, version: &str) -> bool {
    has == version || number(has).zip(number(version)).is_some_and(|(has, version)| has >= version)
}

impl Write {
    /// Returns the version that must at least be reached.
    fn version(&self) -> Option<u64> {
        match self {
            Self::Version { version, .. } => number(version),
            Self::Gone(objects) => objects.iter().filter_map(|object| object.existed).max(),
        }
    }
}

/// The state of one write in the cache.
enum WriteState {
    Outstanding,
    Shown,
    /// No read waits for this write any more; the object may still appear.
    Quiet,
}

impl Writes {
    /// Records that the object was written at this version. A write without a version cannot be waited for.
    pub(super) fn written(&self, key: ObjectKey, uid: &str, version: &str, view: &impl View) {
        if version.is_empty() {
            return;
        }
        let mut pending = self.lock();
        if let Some(Write::Gone(objects)) = pending.by_key.get_mut(&key)
            && let Some(object) = objects.iter_mut().find(|object| object.uid == uid)
        {
            object.existed = object.existed.max(number(version));
            return;
        }
        let known = pending.by_key.get(&key);
        // The responses to two concurrent writes may arrive in reverse order.
        let is_older =
            known.and_then(Write::version).zip(number(version)).is_some_and(|(has, new)| has > new);
        if !is_older {
            let write = Write::Version { version: version.to_owned(), uid: uid.to_owned() };
            pending.insert(key, write, view);
        }
    }

    /// Records that the object was deleted, at `version` if the server returned it. `before` is the uid in the
    /// cache before the request.
    pub(super) fn deleted(&self, key: ObjectKey, uid: &str, version: &str, before: &str, view: &impl View) {
        let uid = if uid.is_empty() { before } else { uid };
        if uid.is_empty() {
            return;
        }
        let is_shown = view.object(&key).is_some_and(|(_, shown)| shown == uid);
        let mut pending = self.lock();
        let mut objects = match pending.by_key.get(&key) {
            Some(Write::Gone(objects)) => objects.clone(),
            // The written object, or a predecessor with its name, is deleted.
            Some(Write::Version { version, uid }) => {
                vec![Deleted { existed: number(version), ..Deleted::of(uid) }]
            }
            None => Vec::new(),
        };
        if !before.is_empty() && before != uid {
            // The cache did not know yet that this object was deleted.
            note(&mut objects, before).was_shown = true;
        }
        let object = note(&mut objects, uid);
        object.was_shown |= is_shown || before == uid;
        object.existed = object.existed.max(number(version));
        let too_many = objects.len().saturating_sub(MOST_DELETIONS);
        objects.drain(..too_many);
        pending.insert(key, Write::Gone(objects), view);
    }

    /// Returns an object in the scope whose write the cache has not shown.
    pub(super) fn outstanding(&self, scope: Scope<'_>, view: &impl View) -> Option<Outstanding> {
        self.lock().outstanding(scope, view)
    }

    /// Returns the number of writes that reads wait for.
    pub(super) fn len(&self) -> usize {
        let pending = self.lock();
        pending.by_key.len() + usize::from(pending.floor.is_some())
    }

    /// Drops the writes whose versions cannot be compared: after a wait in vain, the cache may be past them.
    pub(super) fn give_up_incomparable(&self) {
        self.lock().by_key.retain(|_, write| match write {
            Write::Version { version, .. } => number(version).is_some(),
            Write::Gone(_) => true,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        // Under the lock, only an allocation can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the record of the object with this uid.
fn note<'a>(objects: &'a mut Vec<Deleted>, uid: &str) -> &'a mut Deleted {
    let at = objects.iter().position(|object| object.uid == uid).unwrap_or_else(|| {
        objects.push(Deleted::of(uid));
        objects.len() - 1
    });
    &mut objects[at]
}

/// The writes that a read waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outstanding {
    /// The write of one object.
    Object(ObjectKey),
    /// Too many writes to name one.
    Many,
}

impl Pending {
    fn insert(&mut self, key: ObjectKey, write: Write, view: &impl View) {
        // Checking later would drop this write too.
        self.has_begun_anew(&view.reached());
        let known = self.by_key.len();
        // The cost of checking all writes is spread over many writes.
        if known >= MOST_WRITES && known.is_multiple_of(MOST_WRITES / 4) && !self.by_key.contains_key(&key) {
            let _ = self.outstanding(Scope::All, view);
            if self.by_key.len() >= MOST_WRITES {
                let latest = self.by_key.values().filter_map(Write::version).max();
                self.floor = self.floor.max(latest);
                // A deletion has no version to wait for, unless there are too many of them.
                let keeps_deletions = self.by_key.len() < MOST_GONE;
                self.by_key.retain(|_, write| keeps_deletions && matches!(write, Write::Gone(_)));
            }
        }
        self.by_key.insert(key, write);
    }

    fn outstanding(&mut self, scope: Scope<'_>, view: &impl View) -> Option<Outstanding> {
        if self.by_key.is_empty() && self.floor.is_none() {
            return None;
        }
        // Read the version before the objects: the objects include at least that version.
        let reached = view.reached();
        if self.has_begun_anew(&reached) {
            return None;
        }
        let keys: Vec<ObjectKey> = match scope {
            Scope::Object(key) => self.by_key.contains_key(key).then(|| key.clone()).into_iter().collect(),
            Scope::Namespace(namespace) => {
                self.by_key.keys().filter(|key| key.namespace() == namespace).cloned().collect()
            }
            Scope::All => self.by_key.keys().cloned().collect(),
        };
        let objects: Vec<_> = keys.iter().map(|key| view.object(key)).collect();
        let mut first = None;
        for (key, cached) in keys.into_iter().zip(objects) {
            match self.state(&key, cached, &reached) {
                WriteState::Outstanding => first = first.or(Some(Outstanding::Object(key))),
                WriteState::Quiet => {}
                WriteState::Shown => {
                    self.by_key.remove(&key);
                }
            }
        }
        self.floor = self.floor.filter(|floor| number(&reached).is_none_or(|reached| reached < *floor));
        first.or(self.floor.map(|_| Outstanding::Many))
    }

    /// A server whose versions went back has none of the earlier writes.
    fn has_begun_anew(&mut self, reached: &str) -> bool {
        let reached = number(reached).unwrap_or(self.reached);
        let is_anew = reached < self.reached;
        self.reached = reached;
        if is_anew {
            self.by_key.clear();
            self.floor = None;
        }
        is_anew
    }

    fn state(&mut self, key: &ObjectKey, cached: Option<(String, String)>, reached: &str) -> WriteState {
        match self.by_key.get_mut(key) {
            None => WriteState::Shown,
            Some(Write::Version { version, .. }) => {
                // If the object does not show the write, the version does: the object was deleted, or is not
                // selected.
                let in_object = cached.is_some_and(|(has, _)| includes(&has, version));
                if in_object || includes(reached, version) {
                    WriteState::Shown
                } else {
                    WriteState::Outstanding
                }
            }
            Some(Write::Gone(objects)) => {
                let has_passed = |version| number(reached).is_none_or(|reached| reached >= version);
                let mut is_outstanding = false;
                objects.retain_mut(|object| {
                    let finding = object.find(cached.as_ref(), object.existed.is_some_and(has_passed));
                    is_outstanding |= finding == Finding::NotYet;
                    finding != Finding::Gone
                });
                match is_outstanding {
                    true => WriteState::Outstanding,
                    false if objects.is_empty() => WriteState::Shown,
                    false => WriteState::Quiet,
                }
            }
        }
    }
}

/// The state of the cache about a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// The cache has seen the deletion.
    Gone,
    /// The cache still shows the object, or has not reached it.
    NotYet,
    /// The cache does not show the object, and may or may not show it later.
    Unknown,
}

impl Deleted {
    fn of(uid: &str) -> Self {
        Deleted { uid: uid.to_owned(), was_shown: false, existed: None }
    }

    /// `has_passed` is true if the cache includes a version at which the object existed.
    fn find(&mut self, cached: Option<&(String, String)>, has_passed: bool) -> Finding {
        if cached.is_some_and(|(_, uid)| *uid == self.uid) {
            self.was_shown = true;
            return Finding::NotYet;
        }
        if self.was_shown || has_passed {
            return Finding::Gone;
        }
        let Some(existed) = self.existed else { return Finding::Unknown };
        // Another object with the name came either before this one or after it.
        let other = cached.and_then(|(version, _)| number(version));
        if other.is_some_and(|version| version > existed) { Finding::Gone } else { Finding::NotYet }
    }
}

#[cfg(test)]
mod tests;
