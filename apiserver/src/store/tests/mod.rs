//! The store against a model of itself, on disks that lose data as in a crash.

mod crash;
mod group;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Store;
use super::disk::{Disk, open_with};
use super::journal::{Entry, Queue, Sink};
use super::object::Object;
use super::snapshot::Snapshot;
use super::state::{Change, State};

const COLLECTIONS: [&str; 3] = ["pods", "widgets.a.example#1", "events"];

/// An operation of a server on its store.
#[derive(Clone, Debug)]
enum Op {
    /// Creates or updates an object.
    Put {
        collection: usize,
        key: u8,
        value: Value,
    },
    Delete {
        collection: usize,
        key: u8,
    },
    Close {
        collection: usize,
    },
    Compact,
    Set {
        name: u8,
        value: Vec<u8>,
    },
}

/// Whether Go's JSON of a number is read as a float again: whole numbers have no fraction there.
fn is_float(number: &f64) -> bool {
    number.is_finite() && (number.fract() != 0.0 || number.abs() >= 1e21)
}

fn op() -> impl Strategy<Value = Op> {
    let text = prop_oneof!["[a-z]{0,20}", any::<String>()];
    let value = prop_oneof![
        text.prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("other numbers are integers, or no JSON", is_float).prop_map(Value::from),
    ];
    let collection = 0..COLLECTIONS.len();
    prop_oneof![
        8 => (collection.clone(), 0..4_u8, value).prop_map(|(collection, key, value)| Op::Put {
            collection, key, value: json!({"metadata": {}, "value": value})
        }),
        4 => (collection.clone(), 0..4_u8).prop_map(|(collection, key)| Op::Delete { collection, key }),
        1 => collection.prop_map(|collection| Op::Close { collection }),
        1 => Just(Op::Compact),
        1 => (0..2_u8, prop::collection::vec(any::<u8>(), 0..8)).prop_map(|(name, value)| Op::Set { name, value }),
    ]
}

/// The content of a store in a comparable form: only what clients can observe.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    rv: u64,
    settings: BTreeMap<String, Vec<u8>>,
    collections: BTreeMap<String, ModelCollection>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct ModelCollection {
    floor: u64,
    objects: BTreeMap<String, Value>,
    history: Vec<ModelEvent>,
}

#[derive(Clone, Debug, PartialEq)]
struct ModelEvent {
    rv: u64,
    key: String,
    change: &'static str,
    object: Value,
    previous: Option<Value>,
}

impl Model {
    fn new() -> Self {
        Self { rv: 1, ..Self::default() }
    }

    /// Carries out an operation in the most obvious way.
    fn apply(&mut self, op: &Op, limit: usize) {
        let stamped = |value: &Value, rv: u64| {
            let mut value = value.clone();
            value["metadata"]["resourceVersion"] = json!(rv.to_string());
            value
        };
        let (collection, key, change, value) = match op {
            Op::Put { collection, key, value } => (collection, key, "put", value.clone()),
            Op::Delete { collection, key } => (collection, key, "deleted", Value::Null),
            Op::Close { collection } => {
                self.collections.remove(COLLECTIONS[*collection]);
                return;
            }
            Op::Compact => {
                for collection in self.collections.values_mut() {
                    (collection.history, collection.floor) = (Vec::new(), self.rv);
                }
                return;
            }
            Op::Set { name, value } => {
                self.settings.insert(name.to_string(), value.clone());
                return;
            }
        };
        let (name, key) = (COLLECTIONS[*collection].to_owned(), format!("default/{key}"));
        if change == "deleted" && !self.collections.contains_key(&name) {
            return;
        }
        let place = self.collections.entry(name).or_default();
        let previous = place.objects.get(&key).cloned();
        let (change, object) = match (change, &previous) {
            ("deleted", None) => return,
            ("deleted", Some(old)) => ("deleted", stamped(old, self.rv + 1)),
            (_, None) => ("added", stamped(&value, self.rv + 1)),
            (_, Some(_)) => ("modified", stamped(&value, self.rv + 1)),
        };
        self.rv += 1;
        if change == "deleted" {
            place.objects.remove(&key);
        } else {
            place.objects.insert(key.clone(), object.clone());
        }
        place.history.push(ModelEvent { rv: self.rv, key, change, object, previous });
        if place.history.len() > limit {
            place.floor = place.history.remove(0).rv;
        }
    }

    /// A collection without a write equals a missing one.
    fn without_empty(mut self) -> Self {
        self.collections.retain(|_, c| *c != ModelCollection::default());
        self
    }

    fn of(state: &State) -> Self {
        let settings =
            state.settings.iter().map(|(name, value)| (name.to_string(), value.to_vec())).collect();
        let collections = state.collections.values().map(|collection| {
            let objects =
                collection.objects.iter().map(|(key, o)| (key.to_string(), o.value.clone())).collect();
            let history = collection.history.iter().map(|event| ModelEvent {
                rv: event.rv,
                key: event.key.to_string(),
                change: match event.change {
                    Change::Added => "added",
                    Change::Modified => "modified",
                    Change::Deleted => "deleted",
                },
                object: event.object.value.clone(),
                previous: event.previous.as_ref().map(|previous| previous.value.clone()),
            });
            let floor = collection.floor;
            (collection.name.to_string(), ModelCollection { floor, objects, history: history.collect() })
        });
        Self { rv: state.rv, settings, collections: collections.collect() }.without_empty()
    }
}

/// A store without its thread: every commit is made by hand.
struct ByHand {
    state: State,
    disk: Disk,
    limit: usize,
}

impl ByHand {
    fn open(path: &Path, limit: usize, slack: u64) -> Self {
        let (mut state, disk) = open_with(path, limit, slack).unwrap();
        state.queue = Some(Queue::new(state.rv));
        Self { state, disk, limit }
    }

    /// Carries out an operation through the store's own functions.
    fn apply(&mut self, op: &Op) {
        let state = &mut self.state;
        match op {
            Op::Put { collection, key, value } => {
                let (collection, key) = (COLLECTIONS[*collection], format!("default/{key}"));
                let known = state.collection(collection).objects.contains_key(&*key);
                let change = if known { Change::Modified } else { Change::Added };
                let object = Arc::new(Object::new(value.clone(), state.rv + 1));
                state.commit(collection, key.into(), change, object, self.limit);
            }
            Op::Delete { collection, key } => {
                let (collection, key) = (COLLECTIONS[*collection], format!("default/{key}"));
                let place = state.collections.get(collection);
                let Some(old) = place.and_then(|place| place.objects.get(&*key).cloned()) else { return };
                let object = Arc::new(Object::new(old.value.clone(), state.rv + 1));
                state.commit(collection, key.into(), Change::Deleted, object, self.limit);
            }
            Op::Close { collection } => {
                let collection: Arc<str> = COLLECTIONS[*collection].into();
                if state.collections.remove(&collection).is_some() {
                    state.note(Entry::Closed { collection });
                }
            }
            Op::Compact => {
                state.compact();
                state.note(Entry::Compacted);
            }
            Op::Set { name, value } => state.set(&name.to_string(), value.clone().into()),
        }
    }

    /// Makes the changes durable, as the journal's thread does.
    fn commit(&mut self) {
        let entries = self.state.queue.as_mut().unwrap().take();
        if entries.is_empty() {
            return;
        }
        if self.disk.is_due() {
            self.disk.replace(&Snapshot::of(&self.state)).unwrap();
        } else {
            self.disk.append(&entries).unwrap();
        }
    }
}

/// The content of a folder after a restart.
fn reopened(path: &Path, limit: usize) -> Result<Model, crate::DataError> {
    open_with(path, limit, u64::MAX).map(|(state, _)| Model::of(&state)).map_err(|(_, error)| error)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Every commit is restored, from one file or after many snapshots.
    #[test]
    fn store_is_equal_after_a_restart(
        rounds in prop::collection::vec(prop::collection::vec(op(), 0..12), 1..6),
        limit in 1..6_usize,
        slack in prop_oneof![Just(0_u64), Just(400), Just(u64::MAX)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut model = Model::new();
        for round in rounds {
            let mut store = ByHand::open(dir.path(), limit, slack);
            prop_assert_eq!(Model::of(&store.state), model.clone().without_empty());
            for op in round {
                store.apply(&op);
                model.apply(&op, limit);
                store.commit();
            }
            prop_assert_eq!(Model::of(&store.state), model.clone().without_empty());
        }
        prop_assert_eq!(reopened(dir.path(), limit).unwrap(), model.without_empty());
    }
}

#[test]
fn history_is_cut_on_start_when_its_limit_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = ByHand::open(dir.path(), 10, u64::MAX);
    for key in 0..5 {
        store.apply(&Op::Put { collection: 0, key, value: json!({"metadata": {}}) });
    }
    store.commit();
    drop(store);
    let model = reopened(dir.path(), 2).unwrap();
    let pods = &model.collections["pods"];
    assert_eq!((pods.objects.len(), pods.floor), (5, 4));
    assert_eq!(pods.history.iter().map(|event| event.rv).collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn counters_continue_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let counted = |n: u64| {
        let store = Store::open(dir.path(), 10).unwrap();
        let counted: Vec<u64> = (0..n).map(|_| store.count("a")).collect();
        assert_eq!(store.count("b"), counted[0] / 3);
        store.shut_down();
        counted
    };
    assert_eq!((counted(3), counted(2)), (vec![0, 1, 2], vec![3, 4]));
}

proptest! {
    #[test]
    fn object_at_a_version_is_that_of_the_list(
        writes in prop::collection::vec((0..3_u8, any::<bool>()), 1..12),
        limit in 1..12_usize,
    ) {
        let store = Store::new(limit);
        for (key, is_deletion) in writes {
            let key = key.to_string();
            match store.get("pods", &key) {
                None => drop(store.create("pods", &key, json!({}))),
                Some(old) if is_deletion => drop(store.delete("pods", &key, old.rv)),
                Some(old) => drop(store.update("pods", &key, old.rv, json!({}))),
            }
        }
        for rv in 0..=store.current() {
            let list = store.list("pods", "", Some(rv)).map(|list| list.objects).unwrap_or_default();
            for key in ["0", "1", "2"] {
                let listed = list.iter().find(|(of, _)| **of == *key).map(|(_, object)| object.rv);
                prop_assert_eq!(store.get_at("pods", key, rv).map(|object| object.rv), listed, "{} at {}", key, rv);
            }
        }
    }
}
