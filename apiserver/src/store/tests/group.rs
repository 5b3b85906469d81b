//! Writers, readers and the journal's thread together.

use std::fs;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::store::journal::{Entry, Sink};
use crate::store::snapshot::Snapshot;
use crate::store::state::State;
use crate::store::{NotDurable, Store, WriteError};

/// A disk that makes each commit wait for permission, and reports the number of its changes.
struct Slow {
    permit: Receiver<io::Result<()>>,
    commits: Commits,
}

impl Sink for Slow {
    fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        self.commits.lock().unwrap().push(entries.len());
        self.permit.recv().unwrap_or(Ok(()))
    }

    fn is_due(&self) -> bool {
        false
    }

    fn replace(&mut self, _: &Snapshot) -> io::Result<()> {
        Ok(())
    }
}

type Permits = Sender<io::Result<()>>;
type Commits = Arc<Mutex<Vec<usize>>>;

fn slow() -> (Arc<Store>, Permits, Commits) {
    let (permit, commits) = (channel(), Arc::new(Mutex::new(Vec::new())));
    let sink = Slow { permit: permit.1, commits: commits.clone() };
    (Arc::new(Store::with_sink(State::new(), Box::new(sink), 100).unwrap()), permit.0, commits)
}

#[tokio::test]
async fn event_is_hidden_until_it_is_durable() {
    let (store, permit, _) = slow();
    let mut watch = store.watch("pods", 1);
    store.create("pods", "a", json!({})).unwrap();
    assert!(futures::FutureExt::now_or_never(store.settled()).is_none());
    let batch = watch.take().unwrap();
    assert_eq!((batch.events.len(), batch.upto), (0, 1));
    permit.send(Ok(())).unwrap();
    store.settled().await.unwrap();
    assert!(watch.wait().await);
    let batch = watch.take().unwrap();
    assert_eq!((batch.events.len(), batch.upto), (1, 2));
    // Nothing new was written, so there is nothing to wait for.
    assert_eq!(futures::FutureExt::now_or_never(store.settled()), Some(Ok(())));
}

#[tokio::test]
async fn watch_of_closed_collection_ends_when_its_events_are_durable() {
    let (store, permit, _) = slow();
    let mut watch = store.watch("pods", 1);
    store.create("pods", "a", json!({})).unwrap();
    store.close("pods");
    assert!(!watch.take().unwrap().closed);
    permit.send(Ok(())).unwrap();
    permit.send(Ok(())).unwrap();
    store.settled().await.unwrap();
    let batch = watch.take().unwrap();
    assert!(batch.closed && batch.events.len() == 1);
}

#[test]
fn closed_collection_refuses_writes() {
    let store = Arc::new(Store::new(10));
    let rv = store.create("pods", "a", json!({})).unwrap().rv;
    // A reader still uses its history.
    let _watch = store.watch("pods", rv);
    store.close("pods");
    assert_eq!(store.create("pods", "b", json!({})).unwrap_err(), WriteError::NotFound);
    assert_eq!(store.update("pods", "a", rv, json!({})).unwrap_err(), WriteError::NotFound);
    assert_eq!(store.delete("pods", "a", rv).unwrap_err(), WriteError::NotFound);
}

#[tokio::test]
async fn writers_share_commits() {
    let (store, permit, commits) = slow();
    store.create("pods", "first", json!({})).unwrap();
    // The thread is now busy with the first; all others have to wait for it.
    while commits.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    for n in 0..100 {
        store.create("pods", &n.to_string(), json!({})).unwrap();
    }
    permit.send(Ok(())).unwrap();
    permit.send(Ok(())).unwrap();
    store.settled().await.unwrap();
    assert_eq!(*commits.lock().unwrap(), [1, 100]);
}

#[tokio::test]
async fn writes_are_not_durable_after_a_failed_commit() {
    let (store, permit, commits) = slow();
    let mut watch = store.watch("pods", 1);
    store.create("pods", "a", json!({})).unwrap();
    permit.send(Err(io::Error::other("no space left"))).unwrap();
    let NotDurable(why) = store.settled().await.unwrap_err();
    assert!(why.contains("no space left"), "{why}");
    assert_eq!(store.failed().await, NotDurable(why));
    store.create("pods", "b", json!({})).unwrap();
    assert!(store.settled().await.is_err());
    assert!(watch.take().unwrap().events.is_empty());
    assert_eq!(commits.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn write_is_durable_when_made_before_shutdown() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), 10).unwrap();
    store.create("pods", "a", json!({})).unwrap();
    store.shut_down();
    assert_eq!(store.settled().await, Ok(()));
    store.create("pods", "late", json!({})).unwrap();
    assert!(store.settled().await.is_err());
    // The folder is free although the store still exists.
    let again = Store::open(dir.path(), 10).unwrap();
    assert!(again.get("pods", "a").is_some() && again.get("pods", "late").is_none());
}

/// A copy of the file has the state after a kill: every change that was acknowledged before the copy is in
/// it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn copy_of_the_file_has_every_settled_write() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(dir.path(), 1000).unwrap());
    let settled = Arc::new(Mutex::new(Vec::new()));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (store, settled) = (store.clone(), settled.clone());
            tokio::spawn(async move {
                for n in 0..40 {
                    let key = format!("{writer}/{n}");
                    let object = store.create("pods", &key, json!({"n": n})).unwrap();
                    store.settled().await.unwrap();
                    settled.lock().unwrap().push((key, object.rv));
                }
            })
        })
        .collect();
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        let known = settled.lock().unwrap().clone();
        let copy = tempfile::tempdir().unwrap();
        fs::copy(dir.path().join("store.log"), copy.path().join("store.log")).unwrap();
        let copied = Store::open(copy.path(), 1000).unwrap();
        for (key, rv) in known {
            assert_eq!(copied.get("pods", &key).map(|object| object.rv), Some(rv), "{key}");
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(settled.lock().unwrap().len(), 320);
}
