//! Many clients write the same few objects at once. A sequential model checks all that they saw. Every watch
//! shows the same history. The history has each acknowledged write once, after the version that its client
//! had read. Every list is the history's state at the list's version.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::{StreamExt, TryStreamExt};
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, PostParams, Preconditions, WatchEvent, WatchParams,
};
use kube::{Error, ResourceExt};
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{widget, widgets};

const WRITERS: u64 = 200;
const WRITES: u64 = 2;
const KEYS: u64 = 8;
const WATCHERS: usize = 4;

/// What a write made of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// It carries a number that is used once.
    Put(u64),
    Deleted,
}

/// A write that the server has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Write {
    key: String,
    change: Change,
    /// The version the client had read; `None` when there was no object.
    base: Option<u64>,
}

/// An event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    rv: u64,
    key: String,
    kind: &'static str,
    change: Change,
}

/// The objects at a version: each with its own version and number.
type Objects = BTreeMap<String, (u64, u64)>;

fn version(object: &DynamicObject) -> u64 {
    object.resource_version().unwrap().parse().unwrap()
}

fn number(object: &DynamicObject) -> u64 {
    object.data["spec"]["number"].as_u64().unwrap()
}

/// Writes once, based on the current object. Returns `None` if another client was faster.
async fn try_write(api: &Api<DynamicObject>, key: &str, number: u64) -> Option<Write> {
    let current = api.get_opt(key).await.unwrap();
    let base = current.as_ref().map(version);
    let (change, done) = match current {
        Some(old) if number.is_multiple_of(5) => {
            let preconditions = Preconditions { resource_version: old.resource_version(), uid: None };
            let params = DeleteParams::default().preconditions(preconditions);
            (Change::Deleted, api.delete(key, &params).await.map(drop))
        }
        Some(mut old) => {
            old.data["spec"]["number"] = json!(number);
            (Change::Put(number), api.replace(key, &PostParams::default(), &old).await.map(drop))
        }
        None => {
            let new = widget(key, json!({"spec": {"number": number}}));
            (Change::Put(number), api.create(&PostParams::default(), &new).await.map(drop))
        }
    };
    match done {
        Ok(()) => Some(Write { key: key.to_owned(), change, base }),
        Err(Error::Api(status)) if status.code == 409 || status.code == 404 => None,
        Err(other) => panic!("{other}"),
    }
}

async fn write(api: Api<DynamicObject>, writer: u64) -> Vec<Write> {
    let mut done = Vec::new();
    for n in 0..WRITES {
        let number = writer * WRITES + n;
        let key = format!("w{}", (writer + n * 3) % KEYS);
        loop {
            if let Some(write) = try_write(&api, &key, number).await {
                done.push(write);
                break;
            }
        }
    }
    done
}

/// Watches from `from` to the event of `last`, in pieces of `piece` events, each with a watch of its own.
async fn watch(api: Api<DynamicObject>, mut from: String, piece: usize, last: &str) -> Vec<Event> {
    let mut seen = Vec::<Event>::new();
    loop {
        let mut events = api.watch(&WatchParams::default(), &from).await.unwrap().take(piece).boxed();
        while let Some(event) = events.try_next().await.unwrap() {
            let (kind, object) = match event {
                WatchEvent::Added(object) => ("ADDED", object),
                WatchEvent::Modified(object) => ("MODIFIED", object),
                WatchEvent::Deleted(object) => ("DELETED", object),
                other => panic!("{other:?}"),
            };
            let change = if kind == "DELETED" { Change::Deleted } else { Change::Put(number(&object)) };
            seen.push(Event { rv: version(&object), key: object.name_any(), kind, change });
            if object.name_any() == last {
                return seen;
            }
            from = version(&object).to_string();
        }
    }
}

/// Lists repeatedly, and returns the result of each list.
async fn list(api: Api<DynamicObject>, lists: Arc<Mutex<Vec<(u64, Objects)>>>) {
    loop {
        let list = api.list(&ListParams::default()).await.unwrap();
        let rv = list.metadata.resource_version.as_ref().unwrap().parse().unwrap();
        let objects = list.iter().map(|object| (object.name_any(), (version(object), number(object))));
        lists.lock().unwrap().push((rv, objects.collect()));
    }
}

/// Runs the history on a model. Returns its writes, and the state after each version.
fn replay(history: &[Event], start: u64) -> (Vec<Write>, BTreeMap<u64, Objects>) {
    let (mut objects, mut writes) = (Objects::new(), Vec::new());
    let mut states = BTreeMap::from([(start, objects.clone())]);
    for event in history {
        let Event { rv, key, kind, change } = event;
        let newest = states.last_key_value().map_or(0, |(rv, _)| *rv);
        assert!(*rv > newest, "{event:?} after version {newest}");
        let base = objects.get(key).map(|(rv, _)| *rv);
        let expected = match (change, base) {
            (Change::Deleted, _) => "DELETED",
            (Change::Put(_), None) => "ADDED",
            (Change::Put(_), Some(_)) => "MODIFIED",
        };
        assert!(*kind == expected && (base.is_some() || *kind == "ADDED"), "{event:?} over {base:?}");
        match change {
            Change::Put(number) => objects.insert(key.clone(), (*rv, *number)),
            Change::Deleted => objects.remove(key),
        };
        writes.push(Write { key: key.clone(), change: *change, base });
        states.insert(*rv, objects.clone());
    }
    (writes, states)
}

async fn check(env: TestEnv) {
    let api = widgets(&env).await;
    let start = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    // Watches of the whole time, and ones that are cut again and again.
    let pieces = [usize::MAX, usize::MAX, 50, 7];
    let watchers: [_; WATCHERS] =
        pieces.map(|piece| tokio::spawn(watch(api.clone(), start.clone(), piece, "last")));
    let lists = Arc::new(Mutex::new(Vec::new()));
    let listing = tokio::spawn(list(api.clone(), lists.clone()));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(api.clone(), writer));
    }
    let mut acknowledged = writers.join_all().await.concat();
    listing.abort();
    acknowledged.extend(try_write(&api, "last", WRITERS * WRITES).await);
    assert_eq!(acknowledged.len() as u64, WRITERS * WRITES + 1);

    let mut histories = Vec::new();
    for watcher in watchers {
        histories.push(watcher.await.unwrap());
    }
    let late = watch(api.clone(), start.clone(), usize::MAX, "last").await;
    assert!(histories.iter().all(|history| *history == late), "watches disagree");
    let start = start.parse().unwrap();
    let (mut writes, states) = replay(&late, start);
    writes.sort();
    acknowledged.sort();
    assert_eq!(writes, acknowledged);
    let lists = std::mem::take(&mut *lists.lock().unwrap());
    assert!(lists.len() > 1 && lists.is_sorted_by_key(|(rv, _)| *rv));
    for (rv, objects) in lists {
        let (_, expected) = states.range(..=rv).next_back().unwrap();
        assert_eq!(&objects, expected, "the list at {rv}");
    }
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_clients_see_one_history() {
    check(TestEnv::builder().start().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_clients_see_one_history_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    check(TestEnv::builder().data_dir(dir.path()).start().await.unwrap()).await;
}
