//! The third step: an informer keeps a cache of the pods, its handlers put the keys of changed pods into a queue, and a
//! worker takes them out and looks them up in the cache.
//!
//! The informer lists and watches, and again whenever a watch ends, breaks or has missed events. The queue holds a key
//! once, however often it was added, and retries failed keys later.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubesmith_runtime::cache::{ObjectKey, Store};
use kubesmith_runtime::informer::{Deleted, ResourceEventHandler};
use kubesmith_runtime::kube::ResourceExt;
use kubesmith_runtime::rbac;
use kubesmith_runtime::workqueue::Queue;

use crate::generated::clientset::Clientset;
use crate::generated::informers::SharedInformerFactory;

/// The number of retries of a failing key, before it is dropped.
pub const RETRIES: usize = 5;

/// The time limit of the first list.
const SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the informers of the pods in a namespace: of one node, or of all and of unscheduled ones.
#[must_use]
pub fn factory(clients: &Clientset, namespace: &str, node: Option<&str>) -> SharedInformerFactory {
    let on_node = node.map(|node| format!("spec.nodeName={node}"));
    SharedInformerFactory::builder(clients.clone())
        .namespace(namespace)
        // The server only sends selected pods. A kubelet selects its pods like this.
        .tweak_list_options(|params| params.field_selector = on_node)
        // Unused parts need not be cached: containers and volumes are most of a pod.
        .transform_for(|pod: &mut Pod| pod.spec = None)
        .build()
}

/// Prints `Sync/Add/Update for Pod NAME` or `Pod NAME does not exist anymore` on every change of a pod of [`factory`],
/// until `stop` ends.
///
/// A key that cannot be printed is retried, [`RETRIES`] times with growing delays, then logged and dropped, until the
/// pod changes again.
///
/// # Errors
///
/// Returns an error if the pods cannot be listed.
#[rbac(groups = "", resources = "pods", verbs("list", "watch"), namespace = "default")]
pub async fn watch(
    factory: &SharedInformerFactory,
    out: &mut impl Write,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let pods = factory.core().v1().pods().informer();
    // Its rate limiter: each key separately, 5 ms doubling up to 1000 s, and 10 per second in total.
    let queue = Queue::new("pods");
    pods.add_event_handler(Enqueue { queue: queue.clone() })?;
    factory.start();
    let result = tokio::select! {
        () = stop => Ok(()),
        result = async {
            factory.wait_for_cache_sync(SYNC_TIMEOUT).await?;
            work(&queue, pods.store(), out).await;
            Ok(())
        } => result,
    };
    queue.shut_down();
    factory.shutdown().await;
    result
}

/// Puts the keys of pods into the queue.
struct Enqueue {
    queue: Queue<ObjectKey>,
}

impl ResourceEventHandler<Pod> for Enqueue {
    fn on_add(&self, pod: Arc<Pod>, _is_in_initial_list: bool) {
        self.queue.add(ObjectKey::of(&*pod));
    }

    fn on_update(&self, _old: Arc<Pod>, new: Arc<Pod>) {
        self.queue.add(ObjectKey::of(&*new));
    }

    fn on_delete(&self, deleted: Deleted<Pod>) {
        // A tombstone, `Deleted::FinalStateUnknown`, if only a later list has shown that the pod is gone. The key is
        // known in any case.
        self.queue.add(deleted.key().clone());
    }
}

/// The worker: takes one key after the other until the queue is shut down.
async fn work(queue: &Queue<ObjectKey>, pods: &Store<Pod>, out: &mut impl Write) {
    // Until the item is dropped, no other worker gets its key.
    while let Some(item) = queue.get().await {
        let key = item.key();
        match sync(pods, key, out) {
            Ok(()) => queue.forget(key),
            Err(error) if queue.num_requeues(key) < RETRIES => {
                tracing::warn!(%key, %error, "cannot sync the pod, trying again");
                queue.add_rate_limited(key.clone());
            }
            Err(error) => {
                tracing::error!(%key, %error, RETRIES, "cannot sync the pod, dropping it out of the queue");
                queue.forget(key);
            }
        }
    }
}

/// Does a controller's work for a pod: this one prints its state in the cache.
fn sync(pods: &Store<Pod>, key: &ObjectKey, out: &mut impl Write) -> io::Result<()> {
    let line = match pods.get_by_key(key) {
        Some(pod) => format!("Sync/Add/Update for Pod {}\n", pod.name_any()),
        None => format!("Pod {} does not exist anymore\n", key.name()),
    };
    out.write_all(line.as_bytes())
}
