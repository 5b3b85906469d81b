//! `kubesmith serve --data` under SIGKILL: several clients write, the process is killed meanwhile, and the
//! next one must have every acknowledged write. Watches continue where they were, and miss, repeat and invent
//! no event.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Client, ResourceExt};
use serde_json::json;

use crate::fuzz::mutation::Random;
use crate::serve::Served;

const WRITERS: usize = 4;
const WATCHERS: usize = 2;
const ROUNDS: usize = 3;
/// The object that is written after a restart, so that watches know when they have everything.
const MARKER: &str = "marker";

/// A write of an object, and the event that a watch has to deliver. `Put` carries a number that is used once.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    Put(u64),
    Deleted,
}

#[derive(Clone, Debug)]
struct Write {
    change: Change,
    /// Whether the server responded.
    acknowledged: bool,
}

/// Writes of one client, by the object's name. No two clients write the same object.
type Writes = BTreeMap<String, Vec<Write>>;

/// Writes until the server is killed, and returns the writes.
async fn write(
    client: Client,
    writer: usize,
    round: usize,
    mut random: Random,
    done: Arc<AtomicUsize>,
) -> Writes {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut writes = Writes::new();
    for n in 0.. {
        let name = format!("m-{writer}-{}", random.below(3));
        let number = (round * 1_000_000 + writer * 100_000 + n) as u64;
        let data = json!({"metadata": {"name": name}, "data": {"number": number.to_string()}});
        let Ok(current) = maps.get_opt(&name).await else { break };
        let (change, acknowledged) = if current.is_none() {
            let map: ConfigMap = serde_json::from_value(data).unwrap();
            (Change::Put(number), maps.create(&PostParams::default(), &map).await.map(drop))
        } else if random.below(4) == 0 {
            (Change::Deleted, maps.delete(&name, &DeleteParams::default()).await.map(drop))
        } else {
            let patch = Patch::Merge(data);
            (Change::Put(number), maps.patch(&name, &PatchParams::default(), &patch).await.map(drop))
        };
        if let Err(kube::Error::Api(refused)) = &acknowledged {
            panic!("{change:?} of {name}: {refused}");
        }
        let acknowledged = acknowledged.is_ok();
        writes.entry(name).or_default().push(Write { change, acknowledged });
        if !acknowledged {
            break;
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
    writes
}

/// The events of a watch, over all servers.
#[derive(Clone, Debug)]
struct Seen {
    version: String,
    events: Vec<(String, Change)>,
}

/// Continues the watch after the end of `seen`, until the marker with this number arrives or the server is
/// killed.
async fn watch(client: Client, mut seen: Seen, until: u64) -> Seen {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let Ok(events) = maps.watch(&WatchParams::default(), &seen.version).await else { return seen };
    let mut events = events.boxed();
    while let Ok(Some(event)) = events.try_next().await {
        let (map, deleted) = match event {
            WatchEvent::Added(map) | WatchEvent::Modified(map) => (map, false),
            WatchEvent::Deleted(map) => (map, true),
            WatchEvent::Error(status) => panic!("{status:?}"),
            WatchEvent::Bookmark(_) => continue,
        };
        let version = map.resource_version().unwrap();
        assert!(number(&version) > number(&seen.version), "{version} after {}", seen.version);
        let value = map.data.as_ref().map_or(0, |data| number(&data["number"]));
        let change = if deleted { Change::Deleted } else { Change::Put(value) };
        (seen.version, seen.events) = (version, [seen.events, vec![(map.name_any(), change)]].concat());
        if map.name_any() == MARKER && value == until {
            break;
        }
    }
    seen
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

/// Every acknowledged write appears once and in order; others appear once or not at all.
fn check(name: &str, writes: &[Write], shown: &[Change]) {
    // The possible numbers of changes that match the writes so far: two writes can be equal, and the first of
    // them lost.
    let mut explained = BTreeSet::from([0]);
    for write in writes {
        let shows = explained.iter().filter(|at| shown.get(**at) == Some(&write.change)).map(|at| at + 1);
        let mut next: BTreeSet<usize> = shows.collect();
        if !write.acknowledged {
            next.extend(&explained);
        }
        assert!(!next.is_empty(), "{name}: {write:?} is missing in {writes:?}");
        explained = next;
    }
    assert!(explained.contains(&shown.len()), "{name}: nobody wrote {shown:?}: {writes:?}");
}

#[test]
fn check_prefers_the_acknowledged_of_two_equal_writes() {
    let write = |change: Change, acknowledged| Write { change, acknowledged };
    let writes = [write(Change::Put(1), true), write(Change::Deleted, false), write(Change::Deleted, true)];
    check("a", &writes, &[Change::Put(1), Change::Deleted]);
    for (writes, shown) in [
        (&writes[..], &[Change::Put(1)][..]),
        (&writes[..2], &[Change::Deleted]),
        (&writes[..1], &[Change::Put(1), Change::Deleted]),
    ] {
        assert!(std::panic::catch_unwind(|| check("a", writes, shown)).is_err(), "{shown:?}");
    }
}

async fn mark(client: &Client, value: u64) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let map = json!({"metadata": {"name": MARKER}, "data": {"number": value.to_string()}});
    let patch = Patch::Apply(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": map["metadata"], "data": map["data"]}),
    );
    maps.patch(MARKER, &PatchParams::apply("test").force(), &patch).await.unwrap();
}

/// The server's folder and address, which stay the same over all restarts.
struct Place {
    data: PathBuf,
    addr: String,
}

impl Place {
    fn serve(&mut self) -> Served {
        let served = Served::start(&["--addr", &self.addr, "--data", self.data.to_str().unwrap()]);
        served.url.strip_prefix("https://").unwrap().clone_into(&mut self.addr);
        served
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_server_keeps_every_acknowledged_write() {
    let dir = tempfile::tempdir().unwrap();
    let mut place =
        Place { data: dir.path().join("data"), addr: kubesmith_testenv::free_address().unwrap().to_string() };
    let mut random = Random::new(20_261_121);
    let mut writes = Writes::new();
    let mut watchers = vec![Seen { version: "1".to_owned(), events: Vec::new() }; WATCHERS];
    for round in 1..=ROUNDS {
        let mut served = place.serve();
        let client = served.client().await;
        let done = Arc::new(AtomicUsize::new(0));
        let target = 20 + random.below(150);
        let mut writing = Vec::new();
        for writer in 0..WRITERS {
            let random = Random::new(random.below(usize::MAX) as u64);
            writing.push(tokio::spawn(write(served.client().await, writer, round, random, done.clone())));
        }
        let watching: Vec<_> =
            watchers.drain(..).map(|seen| tokio::spawn(watch(client.clone(), seen, 0))).collect();
        while done.load(Ordering::SeqCst) < target {
            tokio::task::yield_now().await;
        }
        served.kill();
        for writer in writing {
            for (name, more) in writer.await.unwrap() {
                writes.entry(name).or_default().extend(more);
            }
        }
        for watcher in watching {
            watchers.push(watcher.await.unwrap());
        }
        let newest = watchers.iter().map(|seen| number(&seen.version)).max().unwrap();
        verify(&place.serve(), &mut watchers, &mut writes, newest, round as u64).await;
    }
}

/// Compares the objects and events of a new server with the writes of the clients.
async fn verify(served: &Served, watchers: &mut [Seen], writes: &mut Writes, newest: u64, round: u64) {
    let client = served.client().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let list = maps.list(&ListParams::default()).await.unwrap();
    assert!(number(list.metadata.resource_version.as_ref().unwrap()) >= newest, "versions went back");
    mark(&client, round).await;
    let mark = Write { change: Change::Put(round), acknowledged: true };
    writes.entry(MARKER.to_owned()).or_default().push(mark);
    for seen in watchers {
        *seen = watch(client.clone(), seen.clone(), round).await;
        let mut shown = BTreeMap::<&str, Vec<Change>>::new();
        for (name, change) in &seen.events {
            shown.entry(name).or_default().push(change.clone());
        }
        for (name, writes) in &*writes {
            check(name, writes, shown.get(&**name).map_or(&[], Vec::as_slice));
        }
        assert!(shown.keys().all(|name| writes.contains_key(*name)), "{shown:?}");
        // The state is the result of the events.
        for map in &list {
            let value = map.data.as_ref().map_or(0, |data| number(&data["number"]));
            let last = shown.get(&*map.name_any()).and_then(|changes| changes.last());
            assert!(map.name_any() == MARKER || last == Some(&Change::Put(value)), "{}", map.name_any());
        }
        let there = list.iter().filter(|map| map.name_any() != MARKER).count();
        let alive =
            shown.iter().filter(|(name, c)| **name != MARKER && c.last() != Some(&Change::Deleted)).count();
        assert_eq!(there, alive);
    }
}
