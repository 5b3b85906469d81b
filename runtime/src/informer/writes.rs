//! Own writes that the cache has not shown yet.
//!
//! Versions are compared as numbers, as servers since Kubernetes 1.35 promise (and others do) for the objects of one
//! resource. A version that is no number can only be waited for as it is.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::ObjectKey;

/// More writes than this are waited for as one: the latest of them.
const MOST_WRITES: usize = 4096;

/// So many deletions are told apart at least.
const MOST_GONE: usize = 4 * MOST_WRITES;

/// So many deletions of objects of one name are told apart.
const MOST_DELETIONS: usize = 16;

/// The cache as writes are looked for in it.
pub(super) trait View {
    /// Version and uid of the object, if it is there; each empty if it has none.
    fn object(&self, key: &ObjectKey) -> Option<(String, String)>;
    /// The version up to which the cache is complete.
    fn reached(&self) -> String;
}

/// What a read is about to look at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    Object(&'a ObjectKey),
    Namespace(&'a str),
    All,
}

/// The writes of one kind.
#[derive(Default)]
pub(super) struct Writes(Mutex<Pending>);

#[derive(Default)]
struct Pending {
    by_key: BTreeMap<ObjectKey, Write>,
    /// Everything up to this version is waited for by every read.
    floor: Option<u64>,
    /// The version that the cache had at the last look.
    reached: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Write {
    /// The object of this uid was written, in this version.
    Version { version: String, uid: String },
    /// These objects of the name were deleted.
    Gone(Vec<Deleted>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Deleted {
    uid: String,
    /// Whether the cache has shown the object, so that its absence means that it has seen the deletion.
    was_shown: bool,
    /// A version at which the object was there, or that of its deletion. A cache that has got so far without it has seen the
    /// deletion.
    existed: Option<u64>,
}

fn number(version: &str) -> Option<u64> {
    version.parse().ok()
}

/// Whether a cache that has `has` knows the write that made `version`.
fn includes(has: &str, version: &str) -> bool {
    has == version || number(has).zip(number(version)).is_some_and(|(has, version)| has >= version)
}

impl Write {
    /// What has to be waited for at least.
    fn version(&self) -> Option<u64> {
        match self {
            Self::Version { version, .. } => number(version),
            Self::Gone(objects) => objects.iter().filter_map(|object| object.existed).max(),
        }
    }
}

/// What a look at one write has found.
enum Look {
    Outstanding,
    Shown,
    /// Nothing to wait for now, but the object may still turn up.
    Quiet,
}

impl Writes {
    /// The object was written in this version; one without a version cannot be waited for.
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
        // Of two writes at a time, the answer to the earlier one may come last.
        let is_older =
            known.and_then(Write::version).zip(number(version)).is_some_and(|(has, new)| has > new);
        if !is_older {
            let write = Write::Version { version: version.to_owned(), uid: uid.to_owned() };
            pending.insert(key, write, view);
        }
    }

    /// The object was deleted, at `version` if the server told. `before` is the uid that the cache showed before the request.
    pub(super) fn deleted(&self, key: ObjectKey, uid: &str, version: &str, before: &str, view: &impl View) {
        let uid = if uid.is_empty() { before } else { uid };
        if uid.is_empty() {
            return;
        }
        let is_shown = view.object(&key).is_some_and(|(_, shown)| shown == uid);
        let mut pending = self.lock();
        let mut objects = match pending.by_key.get(&key) {
            Some(Write::Gone(objects)) => objects.clone(),
            // What was written is gone, whether it was this object or one before it.
            Some(Write::Version { version, uid }) => {
                vec![Deleted { existed: number(version), ..Deleted::of(uid) }]
            }
            None => Vec::new(),
        };
        if !before.is_empty() && before != uid {
            // The cache had not heard yet that this one was gone.
            note(&mut objects, before).was_shown = true;
        }
        let object = note(&mut objects, uid);
        object.was_shown |= is_shown || before == uid;
        object.existed = object.existed.max(number(version));
        let too_many = objects.len().saturating_sub(MOST_DELETIONS);
        objects.drain(..too_many);
        pending.insert(key, Write::Gone(objects), view);
    }

    /// An object whose write the cache has not shown, of those that a read looks at.
    pub(super) fn outstanding(&self, scope: Scope<'_>, view: &impl View) -> Option<Outstanding> {
        self.lock().outstanding(scope, view)
    }

    /// How many writes are waited for.
    pub(super) fn len(&self) -> usize {
        let pending = self.lock();
        pending.by_key.len() + usize::from(pending.floor.is_some())
    }

    /// Gives up what no number tells apart from what came before: after a wait in vain, the cache may well be past it.
    pub(super) fn give_up_incomparable(&self) {
        self.lock().by_key.retain(|_, write| match write {
            Write::Version { version, .. } => number(version).is_some(),
            Write::Gone(_) => true,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        // Nothing under the lock can panic but an allocation.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The object of this uid among `objects`.
fn note<'a>(objects: &'a mut Vec<Deleted>, uid: &str) -> &'a mut Deleted {
    let at = objects.iter().position(|object| object.uid == uid).unwrap_or_else(|| {
        objects.push(Deleted::of(uid));
        objects.len() - 1
    });
    &mut objects[at]
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outstanding {
    /// The write of an object.
    Object(ObjectKey),
    /// So many writes that they are not told apart.
    Many,
}

impl Pending {
    fn insert(&mut self, key: ObjectKey, write: Write, view: &impl View) {
        // Were it found out at the next look, this write would be given up as well.
        self.has_begun_anew(&view.reached());
        let known = self.by_key.len();
        // Each look at all of them is paid by many writes.
        if known >= MOST_WRITES && known.is_multiple_of(MOST_WRITES / 4) && !self.by_key.contains_key(&key) {
            let _ = self.outstanding(Scope::All, view);
            if self.by_key.len() >= MOST_WRITES {
                let latest = self.by_key.values().filter_map(Write::version).max();
                self.floor = self.floor.max(latest);
                // A deletion has no version to be waited for, unless there are too many of them.
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
        // The version is looked at before the objects: it tells what they include at least.
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
            match self.look(&key, cached, &reached) {
                Look::Outstanding => first = first.or(Some(Outstanding::Object(key))),
                Look::Quiet => {}
                Look::Shown => {
                    self.by_key.remove(&key);
                }
            }
        }
        self.floor = self.floor.filter(|floor| number(&reached).is_none_or(|reached| reached < *floor));
        first.or(self.floor.map(|_| Outstanding::Many))
    }

    /// A server whose versions have gone back knows nothing of what was written before.
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

    fn look(&mut self, key: &ObjectKey, cached: Option<(String, String)>, reached: &str) -> Look {
        match self.by_key.get_mut(key) {
            None => Look::Shown,
            Some(Write::Version { version, .. }) => {
                // What the object does not tell, the version does: it was deleted, or is not selected.
                let in_object = cached.is_some_and(|(has, _)| includes(&has, version));
                if in_object || includes(reached, version) { Look::Shown } else { Look::Outstanding }
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
                    true => Look::Outstanding,
                    false if objects.is_empty() => Look::Shown,
                    false => Look::Quiet,
                }
            }
        }
    }
}

/// What a cache tells of an object that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// It has seen the deletion.
    Gone,
    /// It has not: it shows the object, or has not got to it.
    NotYet,
    /// It does not show the object, and nobody knows whether it will.
    Unknown,
}

impl Deleted {
    fn of(uid: &str) -> Self {
        Deleted { uid: uid.to_owned(), was_shown: false, existed: None }
    }

    /// `has_passed` says whether the cache includes the version at which the object is known to have existed.
    fn find(&mut self, cached: Option<&(String, String)>, has_passed: bool) -> Finding {
        if cached.is_some_and(|(_, uid)| *uid == self.uid) {
            self.was_shown = true;
            return Finding::NotYet;
        }
        if self.was_shown || has_passed {
            return Finding::Gone;
        }
        let Some(existed) = self.existed else { return Finding::Unknown };
        // Another object of the name came either before this one or after it.
        let other = cached.and_then(|(version, _)| number(version));
        if other.is_some_and(|version| version > existed) { Finding::Gone } else { Finding::NotYet }
    }
}

#[cfg(test)]
mod tests;
