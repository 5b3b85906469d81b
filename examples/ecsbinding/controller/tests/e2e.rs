//! The controller end to end, on the embedded API server.

use std::future::Future;
use std::time::Duration;

use ecsbinding_api::v1::{EcsBinding, EcsBindingSpec};
use ecsbinding_client::clientset::Clientset;
use ecsbinding_client::clientset::typed::ecs::v1::EcsBindings;
use ecsbinding_controller::{CLUSTER_LABEL, CLUSTER_NAME, CONTROLLER_NAME};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kubesmith_runtime::kube::{Api, Client};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::task::JoinHandle;

const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");

/// Longer than anything here takes; only a failing test waits for it.
const LIMIT: Duration = Duration::from_secs(30);

struct Running {
    env: TestEnv,
    bindings: EcsBindings,
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Running {
    async fn start(before: impl AsyncFnOnce(&EcsBindings)) -> Running {
        let env = TestEnv::builder().crd_paths([CRDS]).start().await.expect("the server starts");
        let bindings = Clientset::new(env.client()).ecs_v1().ecs_bindings();
        before(&bindings).await;
        let mut manager = Manager::builder(env.client()).build();
        ecsbinding_controller::add_to(&mut manager, 2).expect("a new manager takes controllers");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        Running { env, bindings, stop, manager }
    }

    async fn stop(self) {
        self.stop.cancel();
        in_time("the manager ends", self.manager).await.expect("no panic").expect("no error");
        self.env.stop().await;
    }
}

async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what}: not within {LIMIT:?}"))
}

fn binding(name: &str) -> EcsBinding {
    EcsBinding {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: EcsBindingSpec {
            id: "i-4711".to_owned(),
            name: "host-1".to_owned(),
            nodename: "node-1".to_owned(),
            innerip: "10.0.0.1".to_owned(),
        },
        ..EcsBinding::default()
    }
}

fn label(binding: &EcsBinding) -> Option<&str> {
    binding.metadata.labels.as_ref()?.get(CLUSTER_LABEL).map(String::as_str)
}

/// Watches from the beginning until the object has the label.
async fn labelled(bindings: &EcsBindings, name: &str) -> EcsBinding {
    in_time("the label", async {
        let params = WatchParams::default().fields(&format!("metadata.name={name}"));
        let mut events = bindings.watch(&params, "0").await.expect("a watch");
        loop {
            match events.next().await.expect("an open watch").expect("an event") {
                WatchEvent::Added(seen) | WatchEvent::Modified(seen) if label(&seen).is_some() => {
                    return seen;
                }
                _ => {}
            }
        }
    })
    .await
}

/// Watches until the controller's event about `name` is there.
async fn event_about(client: Client, name: &str) -> Event {
    in_time("the event", async {
        let events: Api<Event> = Api::all(client);
        let mut stream = std::pin::pin!(events.watch(&WatchParams::default(), "0").await.expect("a watch"));
        loop {
            if let WatchEvent::Added(event) = stream.next().await.expect("an open watch").expect("an event")
                && event.involved_object.name.as_deref() == Some(name)
            {
                return event;
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_what_exists_and_what_comes() {
    let running = Running::start(async |bindings: &EcsBindings| {
        bindings.create(&binding("early"), &PostParams::default()).await.expect("created");
    })
    .await;

    let early = labelled(&running.bindings, "early").await;
    assert_eq!(label(&early), Some(CLUSTER_NAME));
    assert_eq!(early.spec, binding("early").spec, "nothing but the label is touched");

    running.bindings.create(&binding("late"), &PostParams::default()).await.expect("created");
    assert_eq!(label(&labelled(&running.bindings, "late").await), Some(CLUSTER_NAME));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn puts_a_removed_label_back() {
    let running = Running::start(async |bindings: &EcsBindings| {
        bindings.create(&binding("host"), &PostParams::default()).await.expect("created");
    })
    .await;
    let first = labelled(&running.bindings, "host").await;

    let remove = Patch::Merge(json!({ "metadata": { "labels": { CLUSTER_LABEL: null } } }));
    let bare = running.bindings.patch("host", &PatchParams::default(), &remove).await.expect("patched");
    assert_eq!(label(&bare), None);
    let again = labelled(&running.bindings, "host").await;
    assert_ne!(first.metadata.resource_version, again.metadata.resource_version);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_an_event_of_its_component() {
    let running = Running::start(async |bindings: &EcsBindings| {
        bindings.create(&binding("host"), &PostParams::default()).await.expect("created");
    })
    .await;
    let event = event_about(running.env.client(), "host").await;
    assert_eq!(event.reason.as_deref(), Some("Labelled"));
    assert_eq!(event.type_.as_deref(), Some("Normal"));
    assert_eq!(event.source.and_then(|source| source.component).as_deref(), Some(CONTROLLER_NAME));
    assert_eq!(event.involved_object.kind.as_deref(), Some("EcsBinding"));
    assert_eq!(event.involved_object.api_version.as_deref(), Some("hopegi.com/v1"));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn survives_deletes_and_lists_typed_objects() {
    let running = Running::start(async |_: &EcsBindings| {}).await;
    for name in ["a", "b", "c"] {
        running.bindings.create(&binding(name), &PostParams::default()).await.expect("created");
    }
    running.bindings.delete("b", &DeleteParams::default()).await.expect("deleted");
    labelled(&running.bindings, "c").await;

    let list = running.bindings.list(&ListParams::default()).await.expect("a list");
    let written = serde_json::to_value(&list.items).expect("JSON");
    let names: Vec<_> =
        written.as_array().expect("a list").iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, ["a", "c"]);
    for item in written.as_array().expect("a list") {
        assert_eq!((&item["apiVersion"], &item["kind"]), (&json!("hopegi.com/v1"), &json!("EcsBinding")));
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn says_what_is_missing_when_the_crd_is_not_installed() {
    let env = TestEnv::builder().start().await.expect("the server starts");
    let mut manager = Manager::builder(env.client()).build();
    ecsbinding_controller::add_to(&mut manager, 1).expect("a new manager takes controllers");
    let ended = manager.run(std::future::pending()).await;
    let Err(ManagerError::Caches(error)) = ended else {
        panic!("expected a cache that does not fill, not {ended:?}");
    };
    assert!(error.to_string().contains("ecsbinding"), "{error}");
    env.stop().await;
}
