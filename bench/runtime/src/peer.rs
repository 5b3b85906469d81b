//! kube-runtime: watcher, reflector and Controller with their defaults.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::{StreamExt, TryStreamExt};
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{Controller, WatchStreamExt, controller, watcher};
use kube::{Api, Client};

use crate::measure::{Cache, Figures, Lookup, Work};
use crate::seen::Seen;
use crate::types::{Kind, stamp};

/// The store of a reflector.
pub struct Peer<K: Kind>(Store<K>);

fn api<K: Kind>(work: &Work) -> Api<K> {
    Api::all(Client::try_from(work.config()).expect("a client"))
}

impl<K: Kind> Cache for Peer<K> {
    async fn start(work: &Work, seen: &Arc<Seen>) -> Self {
        let (store, writer) = reflector::store::<K>();
        let seen = Arc::clone(seen);
        let changes = watcher(api::<K>(work), watcher::Config::default())
            .default_backoff()
            .reflect(writer)
            .applied_objects();
        let changes = changes.try_for_each(move |object| {
            seen.change(stamp(object.meta()));
            futures::future::ok(())
        });
        tokio::spawn(changes);
        Self(store)
    }

    async fn synced(&self) {
        self.0.wait_until_ready().await.expect("the writer lives");
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K: Kind> Lookup for Peer<K> {
    type Key = ObjectRef<K>;

    fn key(&self, namespace: &str, name: &str) -> ObjectRef<K> {
        ObjectRef::new(name).within(namespace)
    }

    fn get(&self, key: &ObjectRef<K>) -> bool {
        self.0.get(key).is_some()
    }

    fn get_by_name(&self, namespace: &str, name: &str) -> bool {
        self.get(&self.key(namespace, name))
    }

    fn list(&self) -> usize {
        self.0.state().len()
    }

    fn list_namespace(&self, namespace: &str) -> usize {
        self.0.state_filter(|object| object.meta().namespace.as_deref() == Some(namespace)).len()
    }

    fn list_tier(&self, tier: &str) -> usize {
        let labels = |object: &K| object.meta().labels.as_ref()?.get("tier").map(|value| value == tier);
        self.0.state_filter(|object| labels(object) == Some(true)).len()
    }
}

/// Measures the seconds until all objects were reconciled once, and the reconciles per second of a second pass.
pub async fn reconcile<K: Kind>(work: &Work, begin: Instant) -> Figures {
    let (again, all_again) = futures::channel::mpsc::unbounded();
    let config = controller::Config::default().concurrency(8);
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let controller = Controller::new(api::<K>(work), watcher::Config::default())
        .with_config(config)
        .reconcile_all_on(all_again);
    let runs = controller.run(
        move |_: Arc<K>, _| {
            counter.fetch_add(1, Ordering::Relaxed);
            futures::future::ok::<_, Infallible>(controller::Action::await_change())
        },
        |_, _, _| controller::Action::await_change(),
        Arc::new(()),
    );
    tokio::spawn(runs.for_each(|_| futures::future::ready(())));
    crate::measure_reconciles(work, begin, &count, move || {
        again.unbounded_send(()).expect("the controller runs")
    })
    .await
}
