//! Streams of kube-runtime beside our informers and queues, joined as docs/from-kube-rs/migration.md says.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc;
use futures::stream::{self, Stream, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use kube_runtime::watcher::{self, Event, watcher};
use kube_runtime::{WatchStreamExt, reflector};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{Action, Controller, ReconcileError, reconcile_fn};
use kubesmith_runtime::informer::{
    Cached, InformerError, InformerOptions, ResourceEventHandlerFuncs, SharedInformer,
};
use kubesmith_runtime::manager::Manager;
use kubesmith_runtime::workqueue::Queue;
use kubesmith_testenv::TestEnv;

const LIMIT: Duration = Duration::from_secs(30);

/// The changes of an informer as `watcher` of kube-runtime yields them. The informer lists and watches again by itself, so
/// the stream begins with an empty list and has no errors.
fn events<K: Cached + Clone>(
    informer: &SharedInformer<K>,
) -> Result<impl Stream<Item = watcher::Result<Event<K>>> + use<K>, InformerError> {
    let (sender, changes) = mpsc::unbounded();
    let send = move |event| drop(sender.unbounded_send(event));
    let (added, updated, deleted) = (send.clone(), send.clone(), send);
    informer.add_event_handler(
        ResourceEventHandlerFuncs::new()
            .on_add(move |object: Arc<K>, _| added(Event::Apply(Arc::unwrap_or_clone(object))))
            .on_update(move |_, object| updated(Event::Apply(Arc::unwrap_or_clone(object))))
            .on_delete(move |last| deleted(Event::Delete(K::clone(last.object())))),
    )?;
    Ok(stream::iter([Event::Init, Event::InitDone]).chain(changes).map(Ok))
}

fn map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn store_of_kube_runtime_follows_an_informer() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = Api::<ConfigMap>::default_namespaced(env.client());
    maps.create(&PostParams::default(), &map("first")).await.unwrap();
    let informer =
        SharedInformer::<ConfigMap>::new(env.client(), InformerOptions::new().namespace("default"));
    let (reader, writer) = reflector::store::<ConfigMap>();
    let mut touched = Box::pin(reflector::reflector(writer, events(&informer).unwrap()).touched_objects());
    informer.start();
    let mut next = async || tokio::time::timeout(LIMIT, touched.next()).await.unwrap().unwrap().unwrap();

    assert_eq!(next().await.name_any(), "first");
    maps.create(&PostParams::default(), &map("second")).await.unwrap();
    assert_eq!(next().await.name_any(), "second");
    assert_eq!(reader.len(), 2);
    maps.delete("first", &DeleteParams::default()).await.unwrap();
    assert_eq!(next().await.name_any(), "first");
    let names: Vec<String> = reader.state().iter().map(|object| object.name_any()).collect();
    assert_eq!(names, ["second"]);
    informer.shutdown().await;
    env.stop().await;
}

#[tokio::test]
async fn controller_takes_keys_of_a_watcher() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = Api::<ConfigMap>::default_namespaced(env.client());
    maps.create(&PostParams::default(), &map("first")).await.unwrap();
    let (sender, mut seen) = mpsc::unbounded();
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        drop(sender.unbounded_send(key));
        ready(Ok::<_, ReconcileError>(Action::done()))
    });
    let queue = Queue::new("maps");
    let controller = Controller::new("maps", queue.clone(), reconciler);
    let objects = watcher(maps, watcher::Config::default()).applied_objects();
    let feeding = tokio::spawn(objects.for_each(move |object| {
        if let Ok(object) = object {
            queue.add(ObjectKey::namespaced(&object.namespace().unwrap_or_default(), &object.name_any()));
        }
        ready(())
    }));
    let mut manager = Manager::builder(env.client()).build();
    manager.add(controller);
    let running = tokio::spawn(manager.run(std::future::pending()));

    let key = tokio::time::timeout(LIMIT, seen.next()).await.unwrap().unwrap();
    assert_eq!(key.to_string(), "default/first");
    feeding.abort();
    running.abort();
    env.stop().await;
}
