//! kube-rs's Controller, finalizers, events and waits, as its users write them.
//!
//! The server is the one that `KUBESMITH_E2E_KUBECONFIG` names, or one of this process behind TLS.
#![allow(clippy::unwrap_used)]

mod explored;
mod streams;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams, PostParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, Resource, ResourceExt};
use kube_runtime::controller::{Action, Controller};
use kube_runtime::events::{Event as Report, EventType, Recorder, Reporter};
use kube_runtime::finalizer::{Event as Phase, finalizer};
use kube_runtime::wait::{await_condition, conditions};
use kube_runtime::watcher;
use kubesmith_testenv::TestEnv;
use serde_json::json;

const NAMESPACE: &str = "kube-rs";
const FINALIZER: &str = "shop.example.com/press";

type Failure = Box<dyn Error + Send + Sync>;
type FinalizerFailure = kube_runtime::finalizer::Error<kube::Error>;

struct Shop {
    client: Client,
    recorder: Recorder,
    reconciled: AtomicUsize,
    cleaned: AtomicUsize,
}

fn shirts() -> ApiResource {
    ApiResource {
        group: "shop.example.com".to_owned(),
        version: "v1".to_owned(),
        api_version: "shop.example.com/v1".to_owned(),
        kind: "Shirt".to_owned(),
        plural: "shirts".to_owned(),
    }
}

/// A server and, when it is ours, its handle.
async fn server() -> Result<(Client, Option<TestEnv>), Failure> {
    if let Ok(path) = std::env::var("KUBESMITH_E2E_KUBECONFIG") {
        let file = Kubeconfig::read_from(path)?;
        let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        return Ok((Client::try_from(config)?, None));
    }
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crds");
    let mut env = TestEnv::builder().crd_paths([crds]).controllers(true).start().await?;
    Ok((Client::try_from(env.config().await?)?, Some(env)))
}

/// Gives each shirt a config map of its own and says so in its status.
async fn reconcile(shirt: Arc<DynamicObject>, shop: Arc<Shop>) -> Result<Action, FinalizerFailure> {
    let api: Api<DynamicObject> = Api::namespaced_with(shop.client.clone(), NAMESPACE, &shirts());
    finalizer(&api, FINALIZER, shirt, |phase| async {
        match phase {
            Phase::Apply(shirt) => apply(&shirt, &shop).await,
            Phase::Cleanup(_) => {
                shop.cleaned.fetch_add(1, Ordering::SeqCst);
                Ok(Action::await_change())
            }
        }
    })
    .await
}

async fn apply(shirt: &DynamicObject, shop: &Shop) -> Result<Action, kube::Error> {
    let owner = shirt.controller_owner_ref(&shirts()).unwrap();
    let label = ConfigMap {
        metadata: ObjectMeta {
            name: Some(shirt.name_any()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some([("color".to_owned(), shirt.data["spec"]["color"].as_str().unwrap().to_owned())].into()),
        ..ConfigMap::default()
    };
    let params = PatchParams::apply("kube-rs").force();
    let maps: Api<ConfigMap> = Api::namespaced(shop.client.clone(), NAMESPACE);
    maps.patch(&shirt.name_any(), &params, &Patch::Apply(&label)).await?;
    let api: Api<DynamicObject> = Api::namespaced_with(shop.client.clone(), NAMESPACE, &shirts());
    let status = json!({"apiVersion": "shop.example.com/v1", "kind": "Shirt", "status": {"replicas": 1}});
    api.patch_status(&shirt.name_any(), &params, &Patch::Apply(&status)).await?;
    let report = Report {
        type_: EventType::Normal,
        reason: "Pressed".to_owned(),
        note: Some("the shirt is ready".to_owned()),
        action: "Press".to_owned(),
        secondary: None,
    };
    shop.recorder.publish(&report, &shirt.object_ref(&shirts())).await?;
    shop.reconciled.fetch_add(1, Ordering::SeqCst);
    Ok(Action::requeue(Duration::from_secs(300)))
}

fn shirt(name: &str) -> DynamicObject {
    DynamicObject::new(name, &shirts()).data(json!({"spec": {"color": "blue"}}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kube_rs_controller_reconciles_and_cleans_up() -> Result<(), Failure> {
    let (client, env) = server().await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = Namespace {
        metadata: ObjectMeta { name: Some(NAMESPACE.to_owned()), ..ObjectMeta::default() },
        ..Namespace::default()
    };
    namespaces.create(&PostParams::default(), &namespace).await?;

    let shop = Arc::new(Shop {
        client: client.clone(),
        recorder: Recorder::new(client.clone(), Reporter::from("kube-rs")),
        reconciled: AtomicUsize::new(0),
        cleaned: AtomicUsize::new(0),
    });
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &shirts());
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let controller =
        Controller::new_with(api.clone(), watcher::Config::default().streaming_lists(), shirts())
            .owns(maps.clone(), watcher::Config::default())
            .graceful_shutdown_on(async move { drop(stopped.await) })
            .run(
                reconcile,
                |_, _: &FinalizerFailure, _| Action::requeue(Duration::from_millis(50)),
                shop.clone(),
            )
            .for_each(|_| async {});
    let controller = tokio::spawn(controller);

    for name in ["one", "two", "three"] {
        api.create(&PostParams::default(), &shirt(name)).await?;
    }
    for name in ["one", "two", "three"] {
        let pressed =
            |found: Option<&DynamicObject>| found.is_some_and(|shirt| shirt.data["status"]["replicas"] == 1);
        await_condition(api.clone(), name, pressed).await?;
        assert_eq!(maps.get(name).await?.data.unwrap()["color"], "blue");
    }

    // A child that somebody deletes comes back.
    let uid = maps.get("one").await?.uid().unwrap();
    maps.delete("one", &DeleteParams::default()).await?;
    await_condition(maps.clone(), "one", |found: Option<&ConfigMap>| {
        found.is_some_and(|map| map.uid().is_some_and(|new| new != uid))
    })
    .await?;

    // An owner that goes is cleaned up after, and takes its child along.
    let uid = api.get("two").await?.uid().unwrap();
    api.delete("two", &DeleteParams::default()).await?;
    await_condition(api.clone(), "two", conditions::is_deleted(&uid)).await?;
    // Once, or again before the cache has heard that the object went.
    assert!(shop.cleaned.load(Ordering::SeqCst) >= 1);
    await_condition(maps.clone(), "two", |found: Option<&ConfigMap>| found.is_none()).await?;

    let events: Api<Event> = Api::namespaced(client.clone(), NAMESPACE);
    let about = ListParams::default().fields("involvedObject.name=three,reason=Pressed");
    assert_eq!(events.list(&about).await?.items.len(), 1);

    drop(stop);
    controller.await?;
    assert!(shop.reconciled.load(Ordering::SeqCst) >= 4);
    for found in api.list(&ListParams::default()).await? {
        let patch = json!({"metadata": {"finalizers": null}});
        api.patch(&found.name_any(), &PatchParams::default(), &Patch::Merge(&patch)).await?;
    }
    namespaces.delete(NAMESPACE, &DeleteParams::default()).await?;
    if let Some(env) = env {
        env.stop().await;
    }
    Ok(())
}
