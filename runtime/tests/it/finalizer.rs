//! Reconcilers with a finalizer, on the embedded API server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{
    Action, CancellationToken, ControllerBuilder, FinalizerEvent, ReconcileError, Reconciler, finalizer_fn,
};
use kubesmith_runtime::controllerutil::contains_finalizer;
use kubesmith_runtime::informer::{CachedClient, InformerOptions, SharedInformer};
use kubesmith_testenv::TestEnv;

const FINALIZER: &str = "example.com/disk";

type Log = Arc<Mutex<Vec<String>>>;

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

/// Writes down each event and whether the object has the finalizer; cleanup fails while `is_blocked`.
fn reconciler(
    maps: CachedClient<ConfigMap>,
    log: &Log,
    is_blocked: &Arc<AtomicBool>,
) -> impl Reconciler<Key = ObjectKey> + use<> {
    let (log, is_blocked) = (log.clone(), is_blocked.clone());
    finalizer_fn(maps, FINALIZER, move |event| {
        let (event, map, is_cleanup) = match event {
            FinalizerEvent::Apply(map) => ("apply", map, false),
            FinalizerEvent::Cleanup(map) => ("cleanup", map, true),
        };
        let has = contains_finalizer(&*map, FINALIZER);
        log.lock().unwrap().push(format!("{event} {} {has}", map.metadata.name.as_deref().unwrap()));
        let fails = is_cleanup && is_blocked.load(Ordering::Relaxed);
        async move { if fails { Err(ReconcileError::new("the disk is busy")) } else { Ok(Action::done()) } }
    })
}

async fn until(what: &str, mut is_reached: impl AsyncFnMut() -> bool) {
    for _ in 0..10_000 {
        if is_reached().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

#[tokio::test(start_paused = true)]
async fn finalizer_is_added_before_apply_and_removed_when_cleanup_succeeds() {
    let env = TestEnv::builder().start().await.unwrap();
    let options = InformerOptions::new().namespace("default");
    let informer = SharedInformer::<ConfigMap>::new(env.client(), options);
    let (log, is_blocked) = (Log::default(), Arc::new(AtomicBool::new(true)));
    let reconciler = reconciler(CachedClient::new(env.client(), &informer), &log, &is_blocked);
    let controller = ControllerBuilder::new("disks").for_(&informer).complete(reconciler).unwrap();
    informer.start();
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));

    let maps: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    maps.create(&PostParams::default(), &map("a")).await.unwrap();
    until("the first apply", async || log.lock().unwrap().iter().any(|event| event == "apply a true")).await;
    assert!(!log.lock().unwrap().contains(&"apply a false".to_owned()), "{log:?}");
    assert!(contains_finalizer(&maps.get("a").await.unwrap(), FINALIZER));

    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let cleanups = |log: &Log| log.lock().unwrap().iter().filter(|event| *event == "cleanup a true").count();
    until("a second try", async || cleanups(&log) >= 2).await;
    assert!(contains_finalizer(&maps.get("a").await.unwrap(), FINALIZER), "cleanup has failed");
    is_blocked.store(false, Ordering::Relaxed);
    until("the end of the object", async || maps.get_opt("a").await.unwrap().is_none()).await;

    stop.cancel();
    run.await.unwrap().unwrap();
    informer.shutdown().await;
    env.stop().await;
}
