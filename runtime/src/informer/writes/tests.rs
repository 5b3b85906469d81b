use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;

use super::*;

/// A server's history, and a cache that has seen a part of it.
#[derive(Default)]
struct World {
    /// Each change: its key, and the object's version and uid, or `None` for a deletion.
    history: Vec<(ObjectKey, Option<(String, String)>)>,
    cached: BTreeMap<ObjectKey, (String, String)>,
    /// The number of changes that the cache has seen. A change's version is its position, from 1.
    seen: usize,
}

impl World {
    fn object(&self, key: &ObjectKey) -> Option<&(String, String)> {
        self.history.iter().rev().find(|(changed, _)| changed == key)?.1.as_ref()
    }

    fn see(&mut self) {
        let Some((key, object)) = self.history.get(self.seen).cloned() else { return };
        self.seen += 1;
        match object {
            Some(object) => self.cached.insert(key, object),
            None => self.cached.remove(&key),
        };
    }

    fn shown(&self, key: &ObjectKey) -> String {
        self.cached.get(key).map(|(_, uid)| uid.clone()).unwrap_or_default()
    }

    fn write(&mut self, key: &ObjectKey) -> String {
        let version = (self.history.len() + 1).to_string();
        let uid = self.object(key).map_or_else(|| format!("uid-{version}"), |(_, uid)| uid.clone());
        self.history.push((key.clone(), Some((version.clone(), uid))));
        version
    }
}

impl View for World {
    fn object(&self, key: &ObjectKey) -> Option<(String, String)> {
        self.cached.get(key).cloned()
    }

    fn reached(&self) -> String {
        self.seen.to_string()
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

fn object(name: &str) -> Option<Outstanding> {
    Some(Outstanding::Object(key(name)))
}

#[test]
fn write_is_outstanding_until_the_cache_has_it_or_a_later_state() {
    let (mut world, writes) = (World::default(), Writes::default());
    let version = world.write(&key("a"));
    writes.written(key("a"), "uid-1", &version, &world);
    assert_eq!(writes.outstanding(Scope::Object(&key("a")), &world), object("a"));
    assert_eq!(writes.outstanding(Scope::Object(&key("b")), &world), None, "of another object");
    assert_eq!(writes.outstanding(Scope::Namespace("default"), &world), object("a"));
    assert_eq!(writes.outstanding(Scope::Namespace("other"), &world), None);
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"));
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), None);
    assert_eq!(writes.len(), 0);
}

#[test]
fn deletion_is_outstanding_while_the_same_object_is_cached() {
    let (mut world, writes) = (World::default(), Writes::default());
    world.write(&key("a"));
    world.see();
    let uid = world.object(&key("a")).unwrap().1.clone();
    world.history.push((key("a"), None));
    writes.deleted(key("a"), &uid, "", &world.shown(&key("a")), &world);
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"));
    world.write(&key("a"));
    world.see();
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), None, "another object of that name");
    assert_eq!(writes.len(), 0);
}

#[test]
fn deletion_of_an_object_that_was_never_cached_is_remembered() {
    let (mut world, writes) = (World::default(), Writes::default());
    world.write(&key("a"));
    let uid = world.object(&key("a")).unwrap().1.clone();
    world.history.push((key("a"), None));
    writes.deleted(key("a"), &uid, "", &world.shown(&key("a")), &world);
    assert_eq!(writes.outstanding(Scope::All, &world), None, "it is not there");
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"), "now it is");
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), None);
    assert_eq!(writes.len(), 0);
}

#[test]
fn reads_do_not_wait_for_a_server_that_restarted_empty() {
    let (mut world, writes) = (World::default(), Writes::default());
    (0..9).for_each(|_| drop(world.write(&key("a"))));
    (0..9).for_each(|_| world.see());
    writes.written(key("a"), "uid-1", "10", &world);
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"));
    let mut anew = World::default();
    anew.write(&key("b"));
    anew.see();
    assert_eq!(writes.outstanding(Scope::All, &anew), None);
    assert_eq!(writes.len(), 0);
}

#[test]
fn reads_wait_for_a_write_to_a_restarted_server() {
    let (mut world, writes) = (World::default(), Writes::default());
    for _ in 0..9 {
        let version = world.write(&key("a"));
        writes.written(key("a"), "uid-1", &version, &world);
        world.see();
        assert_eq!(writes.outstanding(Scope::All, &world), None);
    }
    // The cache has the new server's state before the first write to it.
    let mut anew = World::default();
    anew.write(&key("b"));
    anew.see();
    let version = anew.write(&key("a"));
    writes.written(key("a"), "uid-2", &version, &anew);
    assert_eq!(writes.outstanding(Scope::All, &anew), object("a"));
    anew.see();
    assert_eq!(writes.outstanding(Scope::All, &anew), None);
}

/// An own write, then a deletion and a creation by others, then an own deletion whose version is unknown.
#[test]
fn predecessor_of_a_deleted_object_does_not_show_the_deletion() {
    let (mut world, writes) = (World::default(), Writes::default());
    let version = world.write(&key("a"));
    writes.written(key("a"), "uid-1", &version, &world);
    world.history.push((key("a"), None));
    world.write(&key("a"));
    world.history.push((key("a"), None));
    writes.deleted(key("a"), "uid-3", "", "", &world);
    assert_eq!(
        writes.outstanding(Scope::All, &world),
        object("a"),
        "the cache has not even got to the own write"
    );
    for shown in ["uid-1", "", "uid-3"] {
        world.see();
        assert_eq!(world.shown(&key("a")), shown);
        let expected = if shown.is_empty() { None } else { object("a") };
        assert_eq!(writes.outstanding(Scope::All, &world), expected, "{shown}");
    }
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), None);
    assert_eq!(writes.len(), 0);
}

#[test]
fn successor_with_the_same_name_differs_from_its_predecessor() {
    let (mut world, writes) = (World::default(), Writes::default());
    world.write(&key("a"));
    world.history.push((key("a"), None));
    let version = world.write(&key("a"));
    writes.written(key("a"), "uid-3", &version, &world);
    world.history.push((key("a"), None));
    writes.deleted(key("a"), "uid-3", "", "", &world);
    let (before, after) = (("1".to_owned(), "uid-1".to_owned()), ("5".to_owned(), "uid-5".to_owned()));
    world.cached.insert(key("a"), before);
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"), "it went before");
    // No read looked while the cache showed the deleted object.
    world.cached.insert(key("a"), after);
    assert_eq!(writes.outstanding(Scope::All, &world), None, "it came later");
    assert_eq!(writes.len(), 0);
}

#[test]
fn late_response_to_a_write_does_not_hide_a_deletion() {
    let (mut world, writes) = (World::default(), Writes::default());
    world.write(&key("a"));
    world.see();
    let version = world.write(&key("a"));
    world.history.push((key("a"), None));
    writes.deleted(key("a"), "uid-1", "", "uid-1", &world);
    writes.written(key("a"), "uid-1", &version, &world);
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"), "the write, but not the deletion");
    world.see();
    assert_eq!(writes.outstanding(Scope::All, &world), None);
}

#[test]
fn very_many_writes_are_merged() {
    let (mut world, writes) = (World::default(), Writes::default());
    for number in 0..3 * MOST_WRITES {
        let key = key(&format!("m{number}"));
        let version = world.write(&key);
        writes.written(key, "", &version, &world);
        assert!(writes.len() <= MOST_WRITES + 1);
    }
    assert_eq!(writes.outstanding(Scope::Object(&key("m0")), &world), Some(Outstanding::Many));
    (0..3 * MOST_WRITES).for_each(|_| world.see());
    assert_eq!(writes.outstanding(Scope::All, &world), None);
    assert_eq!(writes.len(), 0);
}

#[test]
fn many_deletions_are_not_forgotten() {
    let (mut world, writes) = (World::default(), Writes::default());
    let keys: Vec<_> = (0..2 * MOST_WRITES).map(|number| key(&format!("m{number}"))).collect();
    keys.iter().for_each(|key| drop(world.write(key)));
    keys.iter().for_each(|_| world.see());
    for key in &keys {
        let uid = world.object(key).unwrap().1.clone();
        world.history.push((key.clone(), None));
        writes.deleted(key.clone(), &uid, "", &world.shown(key), &world);
    }
    assert_eq!(
        writes.outstanding(Scope::Object(&keys[0]), &world),
        Some(Outstanding::Object(keys[0].clone()))
    );
    keys.iter().for_each(|_| world.see());
    assert_eq!(writes.outstanding(Scope::All, &world), None);
    assert_eq!(writes.len(), 0);
    for number in 0..3 * MOST_GONE {
        writes.deleted(key(&format!("m{number}")), "unknown", "", "", &world);
        assert!(writes.len() <= MOST_GONE + 1);
    }
}

#[test]
fn versions_that_are_not_numbers_are_compared_for_equality() {
    let (mut world, writes) = (World::default(), Writes::default());
    writes.written(key("a"), "u", "x-2", &world);
    world.cached.insert(key("a"), ("x-1".to_owned(), "u".to_owned()));
    assert_eq!(writes.outstanding(Scope::All, &world), object("a"));
    world.cached.insert(key("a"), ("x-2".to_owned(), "u".to_owned()));
    assert_eq!(writes.outstanding(Scope::All, &world), None);
    writes.written(key("a"), "u", "x-3", &world);
    writes.give_up_incomparable();
    assert_eq!(writes.outstanding(Scope::All, &world), None);
}

proptest::proptest! {
    /// Own and foreign changes, and a cache that follows at any pace. A read that need not wait shows every own
    /// write or a later state. Once the cache has seen everything, reads wait for nothing.
    #[test]
    fn read_that_does_not_wait_shows_own_writes(steps in vec((0_u8..4, 0_u8..8), 0..120)) {
        let (mut world, writes) = (World::default(), Writes::default());
        // The position in the history of the last own change of each object.
        let mut own = BTreeMap::<ObjectKey, usize>::new();
        let mut made = BTreeSet::new();
        for (name, action) in steps {
            let key = key(&format!("o{name}"));
            match action {
                0 | 1 => world.see(),
                2 => drop(world.write(&key)),
                3 if world.object(&key).is_some() => world.history.push((key.clone(), None)),
                4 | 5 if world.object(&key).is_some() => {
                    let uid = world.object(&key).map(|(_, uid)| uid.clone()).unwrap_or_default();
                    world.history.push((key.clone(), None));
                    // Some servers return the version of a deletion, others do not.
                    // Without it, an object that neither the cache nor an own write has shown cannot be ordered.
                    let is_known = world.shown(&key) == uid || made.contains(&uid);
                    let is_told = action == 4 || !is_known;
                    let version = if is_told { world.history.len().to_string() } else { String::new() };
                    writes.deleted(key.clone(), &uid, &version, &world.shown(&key), &world);
                    own.insert(key.clone(), world.history.len());
                }
                _ => {
                    let version = world.write(&key);
                    let uid = world.object(&key).map(|(_, uid)| uid.clone()).unwrap_or_default();
                    writes.written(key.clone(), &uid, &version, &world);
                    made.insert(uid);
                    own.insert(key.clone(), world.history.len());
                }
            }
            if writes.outstanding(Scope::Object(&key), &world).is_none()
                && let Some(place) = own.get(&key)
            {
                // The cache shows a state that is no older than the own change; or no object, as before it was
                // created, if the own change has left none either.
                let is_fresh = world.seen >= *place;
                let left_nothing = world.history[*place - 1].1.is_none() && !world.cached.contains_key(&key);
                proptest::prop_assert!(is_fresh || left_nothing, "{:?} seen {}", world.history, world.seen);
            }
        }
        while world.seen < world.history.len() {
            world.see();
        }
        proptest::prop_assert_eq!(writes.outstanding(Scope::All, &world), None);
    }
}
