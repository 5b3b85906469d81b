//! The runtime: shared informer and controller with their defaults.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kubesmith_runtime::cache::{Compact, Indexer, ObjectKey};
use kubesmith_runtime::client::connect;
use kubesmith_runtime::controller::{Action, CancellationToken, ControllerBuilder, reconcile_fn};
use kubesmith_runtime::informer::{Cached, InformerOptions, ResourceEventHandler, SharedInformer};

use crate::measure::{Cache, Figures, Lookup, Work};
use crate::seen::Seen;
use crate::shapes::STAMP;
use crate::types::{Kind, stamp};

/// An informer whose cache holds `K`.
pub struct Ours<K: Cached>(SharedInformer<K>);

/// A type for caches.
pub trait Held: Cached<DynamicType = ()> {
    /// Returns the time when the server sent it.
    fn sent(&self) -> u64;
    fn tier(&self) -> Option<&str>;
}

impl<K: Kind> Held for K {
    fn sent(&self) -> u64 {
        stamp(self.meta())
    }

    fn tier(&self) -> Option<&str> {
        self.meta().labels.as_ref()?.get("tier").map(String::as_str)
    }
}

impl<K: Kind> Held for Compact<K> {
    fn sent(&self) -> u64 {
        self.annotation(STAMP).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn tier(&self) -> Option<&str> {
        self.label("tier")
    }
}

struct Handler(Arc<Seen>);

impl<K: Held> ResourceEventHandler<K> for Handler {
    fn on_add(&self, object: Arc<K>, _: bool) {
        self.0.change(object.sent());
    }

    fn on_update(&self, _: Arc<K>, object: Arc<K>) {
        self.0.change(object.sent());
    }
}

async fn informer<K: Cached<DynamicType = ()>>(work: &Work) -> SharedInformer<K> {
    let client = connect(work.config()).await.expect("a client");
    SharedInformer::new(client, InformerOptions::new())
}

impl<K: Held> Cache for Ours<K> {
    async fn start(work: &Work, seen: &Arc<Seen>) -> Self {
        let informer = informer(work).await;
        informer.add_event_handler(Handler(Arc::clone(seen))).expect("it runs");
        informer.start();
        Self(informer)
    }

    async fn synced(&self) {
        self.0.wait_for_sync(Duration::from_secs(60)).await.expect("the server answers");
    }

    fn len(&self) -> usize {
        self.0.store().len()
    }
}

impl<K: Held> Ours<K> {
    /// Adds the index that look-ups by label use.
    pub fn with_index(self) -> Self {
        let tier = |object: &K| object.tier().map(str::to_owned).into_iter().collect();
        self.0.add_indexer(Indexer::new("tier", tier)).expect("it runs");
        self
    }
}

impl<K: Held> Lookup for Ours<K> {
    type Key = ObjectKey;

    fn key(&self, namespace: &str, name: &str) -> ObjectKey {
        ObjectKey::namespaced(namespace, name)
    }

    fn get(&self, key: &ObjectKey) -> bool {
        self.0.store().get_by_key(key).is_some()
    }

    fn get_by_name(&self, namespace: &str, name: &str) -> bool {
        self.0.store().get(namespace, name).is_some()
    }

    fn list(&self) -> usize {
        self.0.store().list().len()
    }

    fn list_namespace(&self, namespace: &str) -> usize {
        self.0.store().list_namespace(namespace).len()
    }

    fn list_tier(&self, tier: &str) -> usize {
        self.0.store().by_index("tier", tier).expect("it was added").len()
    }
}

/// Measures the allocated memory of a full cache, and the part that remains when only its objects are kept.
pub async fn objects<K: Held>(work: &Work, begin: Instant) -> Figures {
    let (cache, seen, _) = crate::measure::sync::<Ours<K>>(work, begin).await;
    let before = crate::probe::allocated_megabytes();
    let objects = cache.0.store().list().to_vec();
    cache.0.shutdown().await;
    drop((cache, seen));
    let figures = [("all", before), ("objects", crate::probe::allocated_megabytes())].into();
    drop(objects);
    figures
}

/// Measures the seconds until all objects were reconciled once, and the reconciles per second of a second pass.
pub async fn reconcile<K: Held>(work: &Work, begin: Instant) -> Figures {
    let informer = informer::<K>(work).await;
    let count = Arc::new(AtomicU64::new(0));
    let (counter, store) = (Arc::clone(&count), informer.store().clone());
    let controller = ControllerBuilder::new("bench").for_(&informer).workers(8).complete(reconcile_fn(
        move |key: ObjectKey| {
            // kube-runtime passes the object to its reconciler; here it is looked up.
            let found = store.get_by_key(&key);
            counter.fetch_add(1, Ordering::Relaxed);
            async move {
                drop(found);
                Ok(Action::done())
            }
        },
    ));
    let controller = controller.expect("it has a source");
    let (queue, store) = (controller.queue().clone(), informer.store().clone());
    informer.start();
    tokio::spawn(controller.run(CancellationToken::new()));
    crate::measure_reconciles(work, begin, &count, move || {
        store.keys().into_iter().for_each(|key| queue.add(key))
    })
    .await
}
