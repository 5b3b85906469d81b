//! The controller end to end: on the embedded API server, or on whichever server the environment chooses.

mod program;
mod replicas;
mod survives;

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
use operator_testing::readiness::is_ready_once_listed;
use operator_testing::{Cluster, Needs, in_time};
use serde_json::json;
use tokio::task::JoinHandle;

const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac");

async fn cluster() -> Cluster {
    Cluster::start(Needs::Api, Some(CRDS)).await.with_roles(ROLES).await
}

/// What the object is called that a test calls `name`: it has no namespace, and other tests have such objects too.
fn name_in(namespace: &str, name: &str) -> String {
    format!("{namespace}-{name}")
}

async fn create(bindings: &EcsBindings, name: &str) {
    bindings.create(&binding(name), &PostParams::default()).await.expect("created");
}

/// Those of one test.
async fn list(bindings: &EcsBindings, namespace: &str) -> Vec<EcsBinding> {
    let all = bindings.list(&ListParams::default()).await.expect("a list");
    let prefix = name_in(namespace, "");
    let is_own = |it: &EcsBinding| it.metadata.name.as_deref().is_some_and(|name| name.starts_with(&prefix));
    all.items.into_iter().filter(is_own).collect()
}

async fn delete_all(bindings: &EcsBindings, namespace: &str) {
    for left in list(bindings, namespace).await {
        let name = left.metadata.name.as_deref().expect("named");
        bindings.delete(name, &DeleteParams::default()).await.expect("deleted");
    }
}

struct Running {
    cluster: Cluster,
    bindings: EcsBindings,
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Running {
    /// The controller, on a server that has an EcsBinding of each of these names already.
    async fn start(before: &[&str]) -> Running {
        let cluster = cluster().await;
        let bindings = Clientset::new(cluster.client()).ecs_v1().ecs_bindings();
        for name in before {
            create(&bindings, &name_in(&cluster.namespace, name)).await;
        }
        let mut manager = Manager::builder(cluster.operator_client()).build();
        ecsbinding_controller::add_to(&mut manager, 2).expect("a new manager takes controllers");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        Running { cluster, bindings, stop, manager }
    }

    fn name(&self, name: &str) -> String {
        name_in(&self.cluster.namespace, name)
    }

    async fn create(&self, name: &str) {
        create(&self.bindings, &self.name(name)).await;
    }

    async fn stop(self) {
        delete_all(&self.bindings, &self.cluster.namespace).await;
        self.stop.cancel();
        in_time("the manager ends", self.manager).await.expect("no panic").expect("no error");
        self.cluster.stop().await;
    }
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
async fn labelled(running: &Running, name: &str) -> EcsBinding {
    in_time("the label", async {
        let params = WatchParams::default().fields(&format!("metadata.name={}", running.name(name)));
        let mut events = running.bindings.watch(&params, "0").await.expect("a watch");
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
async fn existing_and_new_bindings_are_labelled() {
    let running = Running::start(&["early"]).await;
    let early = labelled(&running, "early").await;
    assert_eq!(label(&early), Some(CLUSTER_NAME));
    assert_eq!(early.spec, binding("early").spec, "nothing but the label is touched");

    running.create("late").await;
    assert_eq!(label(&labelled(&running, "late").await), Some(CLUSTER_NAME));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_label_is_restored() {
    let running = Running::start(&["host"]).await;
    let first = labelled(&running, "host").await;

    let remove = Patch::Merge(json!({ "metadata": { "labels": { CLUSTER_LABEL: null } } }));
    let name = running.name("host");
    let bare = running.bindings.patch(&name, &PatchParams::default(), &remove).await.expect("patched");
    assert_eq!(label(&bare), None);
    let again = labelled(&running, "host").await;
    assert_ne!(first.metadata.resource_version, again.metadata.resource_version);
    running.cluster.role_is_minimal(&["list ecsbinding.hopegi.com"]).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn event_is_recorded_with_component_and_object() {
    let running = Running::start(&["host"]).await;
    let event = event_about(running.cluster.client(), &running.name("host")).await;
    assert_eq!(event.reason.as_deref(), Some("Labelled"));
    assert_eq!(event.type_.as_deref(), Some("Normal"));
    assert_eq!(event.source.and_then(|source| source.component).as_deref(), Some(CONTROLLER_NAME));
    assert_eq!(event.involved_object.kind.as_deref(), Some("EcsBinding"));
    assert_eq!(event.involved_object.api_version.as_deref(), Some("hopegi.com/v1"));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operator_continues_after_a_deletion_and_lists_are_typed() {
    let running = Running::start(&[]).await;
    for name in ["a", "b", "c"] {
        running.create(name).await;
    }
    running.bindings.delete(&running.name("b"), &DeleteParams::default()).await.expect("deleted");
    labelled(&running, "c").await;

    let written =
        serde_json::to_value(list(&running.bindings, &running.cluster.namespace).await).expect("JSON");
    let written = written.as_array().expect("a list");
    let names: Vec<_> = written.iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, [&running.name("a"), &running.name("c")]);
    for item in written {
        assert_eq!((&item["apiVersion"], &item["kind"]), (&json!("hopegi.com/v1"), &json!("EcsBinding")));
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replica_is_ready_when_its_handler_has_the_initial_list() {
    let cluster = cluster().await;
    let add_to = |manager: &mut Manager| {
        ecsbinding_controller::add_to(manager, 1).expect("a new manager takes controllers");
    };
    is_ready_once_listed(&cluster, "ecsbinding", add_to).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
#[cfg_attr(
    not(backend = "embedded"),
    ignore = "the CRD is there, or a cache takes two minutes to be given up"
)]
async fn manager_error_names_the_resource_when_the_crd_is_missing() {
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
