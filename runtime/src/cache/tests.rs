use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Change, Indexer, ObjectKey, Store, StoreWriter, TypedIndex, Undecodable, store};

#[derive(Clone, Debug)]
enum Step {
    Insert(ObjectKey, u8),
    Remove(ObjectKey),
    Replace(BTreeMap<ObjectKey, u8>),
    /// Adds the second index while objects change.
    Index,
}

fn key() -> impl Strategy<Value = ObjectKey> {
    let namespace = prop_oneof![Just(""), Just("a"), Just("a-b"), Just("b")];
    (namespace, "[a-d]").prop_map(|(namespace, name)| ObjectKey::namespaced(namespace, &name))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Insert(key, value)),
        3 => key().prop_map(Step::Remove),
        1 => proptest::collection::btree_map(key(), any::<u8>(), 0..6).prop_map(Step::Replace),
        1 => Just(Step::Index),
    ]
}

/// "even" or "odd", and "three" for multiples of three.
fn classes(value: &u8) -> Vec<String> {
    let mut classes = vec![if value.is_multiple_of(2) { "even" } else { "odd" }.to_owned()];
    if value.is_multiple_of(3) {
        classes.push("three".to_owned());
    }
    classes
}

/// Keys that are not strings. A value may have one key twice; zero has none.
fn residues(value: u8) -> Vec<(bool, Option<u8>)> {
    if value == 0 { Vec::new() } else { vec![(value.is_multiple_of(2), value.checked_rem(3)); 2] }
}

fn check_typed(index: &TypedIndex<u8, (bool, Option<u8>)>, model: &BTreeMap<ObjectKey, u8>) {
    let mut expected: BTreeMap<(bool, Option<u8>), Vec<ObjectKey>> = BTreeMap::new();
    for (key, value) in model {
        if let Some(residue) = residues(*value).pop() {
            expected.entry(residue).or_default().push(key.clone());
        }
    }
    assert_eq!(index.values(), expected.keys().copied().collect::<Vec<_>>());
    for (residue, keys) in expected {
        assert_eq!(index.keys(&residue), keys);
        let listed: Vec<u8> = index.list(&residue).iter().map(|value| **value).collect();
        assert_eq!(listed, keys.iter().map(|key| model[key]).collect::<Vec<_>>());
    }
}

#[test]
fn index_look_up_fails_for_keys_of_another_type() {
    let mut writer = store();
    let reader = writer.reader();
    writer.insert(&ObjectKey::cluster("a"), Arc::new(7_u8));
    let typed = reader.add_typed_index("odd", |value: &u8| vec![value % 2 == 1]).unwrap();
    assert!(reader.add_typed_index("odd", |value: &u8| vec![*value]).is_none(), "the name is taken");
    assert!(!reader.add_indexer(Indexer::new("odd", classes)));
    assert_eq!((typed.list(&true).len(), reader.by(&typed, &false).unwrap().len()), (1, 0));
    assert!(reader.by_index("odd", "true").unwrap_err().known.is_empty(), "no index has strings as keys");
    assert_eq!(reader.indexers(), ["odd"]);
    let error = store::<u8>().reader().by(&typed, &true).unwrap_err();
    assert_eq!(error.name, "odd");
}

#[test]
fn index_of_another_store_is_refused_even_with_the_same_name() {
    let (mut one, mut other) = (store(), store());
    let (ones, others) = (one.reader(), other.reader());
    for writer in [&mut one, &mut other] {
        writer.insert(&ObjectKey::cluster("a"), Arc::new(7_u8));
    }
    let odd = ones.add_typed_index("class", |value: &u8| vec![value % 2 == 1]).unwrap();
    let even = others.add_typed_index("class", |value: &u8| vec![value % 2 != 1]).unwrap();
    let error = ones.by(&even, &true).unwrap_err();
    assert!(error.of_another_store, "{error:?}");
    assert_eq!(
        error.to_string(),
        "the index \"class\" belongs to another store; use the index of this store's informer"
    );
    assert_eq!((ones.by(&odd, &true).unwrap().len(), even.list(&true).len()), (1, 0));
    assert!(!ones.by_index("nothing", "x").unwrap_err().of_another_store);
}

fn check_equal(store: &Store<u8>, model: &BTreeMap<ObjectKey, u8>, indexes: &[&str]) {
    let listed: Vec<u8> = store.list().iter().map(|value| **value).collect();
    assert_eq!(listed, model.values().copied().collect::<Vec<_>>());
    assert_eq!(store.keys(), model.keys().cloned().collect::<Vec<_>>());
    assert_eq!(store.len(), model.len());
    for namespace in ["", "a", "a-b", "b", "c"] {
        let expected: Vec<u8> =
            model.iter().filter(|(key, _)| key.namespace() == namespace).map(|(_, value)| *value).collect();
        let listed: Vec<u8> = store.list_namespace(namespace).iter().map(|value| **value).collect();
        assert_eq!(listed, expected, "namespace {namespace:?}");
        for name in ["a", "b", "c", "d"] {
            let key = ObjectKey::namespaced(namespace, name);
            assert_eq!(store.get(namespace, name).as_deref(), model.get(&key));
            assert_eq!(store.contains(&key), model.contains_key(&key));
        }
    }
    for index in indexes {
        for class in ["even", "odd", "three"] {
            let members = model.iter().filter(|(_, value)| classes(value).contains(&class.to_owned()));
            let keys: Vec<ObjectKey> = members.map(|(key, _)| key.clone()).collect();
            assert_eq!(store.index_keys(index, class).unwrap(), keys, "{index} {class}");
            let values: Vec<u8> = keys.iter().map(|key| model[key]).collect();
            let listed: Vec<u8> = store.by_index(index, class).unwrap().iter().map(|value| **value).collect();
            assert_eq!(listed, values);
        }
    }
}

fn replay(writer: &mut StoreWriter<u8>, model: &mut BTreeMap<ObjectKey, u8>, step: Step) {
    match step {
        Step::Insert(key, value) => {
            let old = writer.insert(&key, Arc::new(value));
            assert_eq!(old.as_deref().copied(), model.insert(key, value));
        }
        Step::Remove(key) => {
            assert_eq!(writer.remove(&key).as_deref().copied(), model.remove(&key));
        }
        Step::Replace(objects) => {
            let given = objects.iter().map(|(key, value)| (key.clone(), Arc::new(*value))).collect();
            // The changes, replayed on the old state, give the new one.
            for change in writer.replace(given, &[]).changes {
                match change {
                    Change::Added { key, new } => assert_eq!(model.insert(key, *new), None),
                    Change::Updated { key, old, new } => assert_eq!(model.insert(key, *new), Some(*old)),
                    Change::Deleted { key, last } => assert_eq!(model.remove(&key), Some(*last)),
                }
            }
            assert_eq!(*model, objects);
        }
        Step::Index => {}
    }
}

proptest! {
    #[test]
    fn store_equals_a_replay_of_its_events(steps in proptest::collection::vec(step(), 0..40)) {
        let mut writer = store();
        let reader = writer.reader();
        let mut model = BTreeMap::new();
        let mut indexes = vec!["early"];
        assert!(reader.add_indexer(Indexer::new("early", classes)));
        let typed = reader.add_typed_index("typed", |value: &u8| residues(*value)).unwrap();
        for step in steps {
            if matches!(step, Step::Index) && indexes.len() == 1 {
                assert!(reader.add_indexer(Indexer::new("late", classes)));
                indexes.push("late");
            }
            replay(&mut writer, &mut model, step);
            check_equal(&reader, &model, &indexes);
            check_typed(&typed, &model);
        }
    }
}

#[test]
fn listing_is_a_snapshot_and_shared_until_the_next_change() {
    let mut writer = store();
    let reader = writer.reader();
    writer.insert(&ObjectKey::cluster("a"), Arc::new(1_u8));
    let before = reader.list();
    assert!(std::ptr::eq(&*before, &*reader.list()), "no copy while nothing changes");
    writer.insert(&ObjectKey::cluster("a"), Arc::new(2));
    writer.insert(&ObjectKey::cluster("b"), Arc::new(3));
    assert_eq!(before.iter().map(|value| **value).collect::<Vec<_>>(), [1]);
    assert_eq!(reader.list().into_iter().map(|value| *value).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn undecodable_keys_are_kept_until_decoded_or_deleted() {
    let mut writer = store();
    let reader = writer.reader();
    let why = || Undecodable { message: "no map".to_owned(), resource_version: None };
    let (a, b) = (ObjectKey::cluster("a"), ObjectKey::cluster("b"));
    writer.insert(&a, Arc::new(1_u8));
    writer.mark_undecodable(a.clone(), why());
    writer.mark_undecodable(b.clone(), why());
    assert_eq!(reader.undecodable().len(), 2);
    assert!(reader.contains(&a) && !reader.contains(&b));
    // `a` is undecodable in this list too, so it keeps its last state. `b` is not in the list, so it is removed.
    let changes = writer.replace(Vec::new(), std::slice::from_ref(&a)).changes;
    assert!(changes.is_empty(), "{changes:?}");
    assert_eq!(reader.undecodable().iter().map(|(key, _)| key.name()).collect::<Vec<_>>(), ["a"]);
    writer.insert(&a, Arc::new(2));
    assert!(reader.undecodable().is_empty());
}

#[test]
fn index_function_may_read_the_store() {
    let mut writer = store();
    let reader = writer.reader();
    let inner = reader.clone();
    assert!(reader.add_indexer(Indexer::new("size", move |_: &u8| vec![inner.len().to_string()])));
    writer.insert(&ObjectKey::cluster("a"), Arc::new(1_u8));
    assert_eq!(reader.index_values("size").unwrap().iter().map(|v| &**v).collect::<Vec<_>>(), ["0"]);
    assert!(!reader.add_indexer(Indexer::new("size", |_: &u8| Vec::new())), "the name is taken");
}

#[test]
fn object_is_not_indexed_when_the_index_function_panics() {
    let mut writer = store();
    let reader = writer.reader();
    let odd_only = |value: &u8| {
        assert!(!value.is_multiple_of(2), "the test wants this panic");
        vec!["odd".to_owned()]
    };
    assert!(reader.add_indexer(Indexer::new("odd", odd_only)));
    for value in 1..=3_u8 {
        writer.insert(&ObjectKey::cluster(&value.to_string()), Arc::new(value));
    }
    assert_eq!(reader.by_index("odd", "odd").unwrap().len(), 2);
    assert_eq!(reader.len(), 3);
}

#[test]
fn readers_see_whole_states_while_the_writer_writes() {
    let mut writer = store();
    let reader = writer.reader();
    for name in ["a", "b", "c"] {
        writer.insert(&ObjectKey::cluster(name), Arc::new(0_u32));
    }
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let reader = reader.clone();
                scope.spawn(move || {
                    let mut last = [0; 3];
                    while last[2] < 200 {
                        let listed: Vec<u32> = reader.list().iter().map(|value| **value).collect();
                        assert_eq!(listed.len(), 3);
                        // The writer goes through the objects in order, so no listing shows a later one ahead of
                        // an earlier one.
                        assert!(listed.is_sorted_by(|a, b| a >= b), "{listed:?}");
                        assert!(listed.iter().zip(&last).all(|(now, before)| now >= before));
                        last.copy_from_slice(&listed);
                    }
                })
            })
            .collect();
        for round in 1..=200 {
            for name in ["a", "b", "c"] {
                writer.insert(&ObjectKey::cluster(name), Arc::new(round));
            }
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn readers_never_see_half_a_replacement() {
    let mut writer = store();
    let reader = writer.reader();
    let content = |names: [&str; 2]| names.map(|name| (ObjectKey::cluster(name), Arc::new(1_u8))).to_vec();
    writer.replace(content(["a", "b"]), &[]);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            while !reader.contains(&ObjectKey::cluster("end")) {
                let keys: Vec<String> = reader.keys().iter().map(ToString::to_string).collect();
                assert!([["a", "b"], ["c", "d"], ["end", "x"]].iter().any(|whole| keys == whole), "{keys:?}");
            }
        });
        for _ in 0..200 {
            writer.replace(content(["c", "d"]), &[]);
            writer.replace(content(["a", "b"]), &[]);
        }
        writer.replace(content(["end", "x"]), &[]);
        watching.join().unwrap();
    });
}

#[test]
fn keys_sort_by_namespace_then_name_and_print_as_in_client_go() {
    let mut keys: Vec<ObjectKey> =
        ["b/a", "a-b/a", "a/c", "z", "a/b"].iter().map(|key| key.parse().unwrap()).collect();
    keys.sort();
    let printed: Vec<String> = keys.iter().map(ToString::to_string).collect();
    assert_eq!(printed, ["z", "a/b", "a/c", "a-b/a", "b/a"]);
    assert_ne!(ObjectKey::namespaced("a", "b"), ObjectKey::cluster("a/b"));
    assert_eq!(
        "a/b/c".parse::<ObjectKey>().unwrap_err().to_string(),
        "\"a/b/c\" is not an object key: expected \"namespace/name\" or \"name\""
    );
    assert!("/b".parse::<ObjectKey>().is_err());
}
