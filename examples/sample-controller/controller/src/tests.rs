//! The reconciler alone, on a fake clientset: no API server to start, no controller that runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::controller::{Action, ReconcileError, Reconciler, reconcile_fn};
use kubesmith_runtime::record::FakeRecorder;
use kubesmith_runtime::workqueue::RateLimiter;
use kubesmith_testenv::fake::{self, Object, Reaction, first};
use kubesmith_testenv::objects;
use sample_controller_api::v1alpha1::{FooSpec, FooStatus};
use sample_controller_client::clientset::fake::FakeClientset;
use sample_controller_client::clientset::typed::apps::v1::{
    AppsV1Client, DeploymentsGetter, NamespacedDeployments,
};
use sample_controller_client::clientset::typed::samplecontroller::v1alpha1::SamplecontrollerV1alpha1Client;

use super::*;
use crate::deployment::new_deployment;

struct Fixture {
    clients: FakeClientset,
    events: FakeRecorder,
    reconciler: FooReconciler<SamplecontrollerV1alpha1Client, Noted>,
    noted: Noted,
}

/// Clients of Deployments that remember for which namespaces they were asked.
#[derive(Clone)]
struct Noted {
    clients: AppsV1Client,
    namespaces: Arc<Mutex<Vec<String>>>,
}

impl DeploymentsGetter for Noted {
    type Deployments = NamespacedDeployments;

    fn deployments(&self, namespace: &str) -> NamespacedDeployments {
        self.namespaces.lock().expect("no panic").push(namespace.to_owned());
        self.clients.deployments().namespace(namespace)
    }
}

impl Fixture {
    /// A reconciler whose caches have what the clients have.
    async fn new(objects: impl IntoIterator<Item = Object>) -> Self {
        let clients = FakeClientset::new(objects).expect("a fake");
        let factory = SharedInformerFactory::builder(clients.clone()).build();
        let factories = Factories { kubernetes: factory.clone(), foos: factory.clone() };
        let events = FakeRecorder::new();
        let noted = Noted { clients: clients.apps_v1(), namespaces: Arc::default() };
        let foo_clients = clients.samplecontroller_v1alpha1();
        let reconciler = FooReconciler::new(foo_clients, noted.clone(), &factories, events.recorder());
        factory.start();
        factory.wait_for_cache_sync(RESYNC).await.expect("full caches");
        clients.clear_actions();
        Fixture { clients, events, reconciler, noted }
    }

    async fn reconcile(&self, foo: &Foo) -> Result<Action, ReconcileError> {
        self.reconciler.reconcile(&ObjectKey::of(foo)).await
    }

    /// Reconciles, and nothing is left to do.
    async fn sync(&self, foo: &Foo) {
        assert_eq!(self.reconcile(foo).await.expect("no error"), Action::done());
    }

    /// What was asked of the server, in words.
    fn actions(&self) -> Vec<String> {
        self.clients.actions().iter().map(ToString::to_string).collect()
    }

    /// Each write names who it is from.
    fn action(&self, n: usize) -> fake::Action {
        let actions = self.clients.actions();
        assert!(actions.iter().all(|it| it.option("fieldManager").is_none_or(|it| it == CONTROLLER_NAME)));
        actions[n].clone()
    }
}

fn foo(name: &str, replicas: i32) -> Foo {
    Foo {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("default".to_owned()),
            uid: Some(format!("uid-of-{name}")),
            ..ObjectMeta::default()
        },
        spec: FooSpec { deployment_name: format!("{name}-deployment"), replicas: Some(replicas) },
        status: None,
    }
}

fn available(foo: Foo, replicas: i32) -> Foo {
    Foo { status: Some(FooStatus { available_replicas: replicas }), ..foo }
}

fn deployment(foo: &Foo) -> Deployment {
    new_deployment(foo).expect("the Foo has a uid")
}

#[tokio::test]
async fn creates_deployment() {
    let foo = foo("test", 1);
    let fixture = Fixture::new(objects![foo.clone()]).await;
    fixture.sync(&foo).await;
    assert_eq!(
        fixture.actions(),
        [
            "create deployments.apps default/test-deployment",
            "update foos.samplecontroller.k8s.io/status default/test",
        ]
    );
    assert_eq!(fixture.action(0).object::<Deployment>().expect("a Deployment"), deployment(&foo));
    let status = fixture.action(1).object::<Foo>().expect("a Foo").status;
    assert_eq!(status, Some(FooStatus { available_replicas: 0 }));
    assert_eq!(fixture.events.take(), ["Normal Synced Foo synced successfully"]);
    let namespaces = fixture.noted.namespaces.lock().expect("no panic").clone();
    assert!(!namespaces.is_empty() && namespaces.iter().all(|it| it == "default"), "{namespaces:?}");
}

#[tokio::test]
async fn deployment_is_not_written_when_it_is_up_to_date() {
    let foo = available(foo("test", 1), 0);
    let fixture = Fixture::new(objects![foo.clone(), deployment(&foo)]).await;
    fixture.sync(&foo).await;
    assert!(fixture.actions().is_empty(), "{:?}", fixture.actions());
    assert!(fixture.events.take().is_empty());
}

#[tokio::test]
async fn updates_deployment() {
    let before = available(foo("test", 1), 0);
    let mut stored = deployment(&before);
    stored.metadata.annotations = Some([("example.com/by".to_owned(), "somebody else".to_owned())].into());
    let foo = available(foo("test", 2), 0);
    let fixture = Fixture::new(objects![foo.clone(), stored]).await;
    fixture.sync(&foo).await;
    assert_eq!(fixture.actions(), ["update deployments.apps default/test-deployment"]);
    let updated: Deployment = fixture.action(0).object().expect("a Deployment");
    assert_eq!(updated.spec.and_then(|spec| spec.replicas), Some(2));
    assert!(updated.metadata.annotations.is_some(), "what is not the Foo's to say stays");
    assert!(updated.metadata.resource_version.is_some(), "what changed meanwhile is not overwritten");
    assert_eq!(fixture.events.take(), ["Normal Synced Foo synced successfully"]);
}

#[tokio::test]
async fn foreign_deployment_is_a_terminal_error() {
    let foo = foo("test", 1);
    let mut foreign = deployment(&foo);
    foreign.metadata.owner_references = None;
    let fixture = Fixture::new(objects![foo.clone(), foreign]).await;
    let error = fixture.reconcile(&foo).await.expect_err("the name is taken");
    let message = r#"Resource "test-deployment" already exists and is not managed by Foo"#;
    assert_eq!((error.to_string().as_str(), error.is_terminal()), (message, true));
    assert!(fixture.actions().is_empty(), "{:?}", fixture.actions());
    assert_eq!(fixture.events.take(), [format!("Warning ErrResourceExists {message}")]);
}

#[tokio::test]
async fn deployment_of_a_former_foo_is_foreign() {
    let mut before = foo("test", 1);
    before.metadata.uid = Some("another".to_owned());
    let foo = foo("test", 1);
    let fixture = Fixture::new(objects![foo.clone(), deployment(&before)]).await;
    let error = fixture.reconcile(&foo).await.expect_err("the garbage collector has yet to take it");
    assert!(error.to_string().contains("not managed by Foo"), "{error}");
}

#[tokio::test]
async fn foo_status_follows_the_deployment() {
    let foo = available(foo("test", 2), 0);
    let mut half = deployment(&foo);
    half.status = Some(DeploymentStatus { available_replicas: Some(1), ..DeploymentStatus::default() });
    let fixture = Fixture::new(objects![foo.clone(), half]).await;
    fixture.sync(&foo).await;
    assert_eq!(fixture.actions(), ["update foos.samplecontroller.k8s.io/status default/test"]);
    assert_eq!(
        fixture.action(0).object::<Foo>().expect("a Foo").status,
        Some(FooStatus { available_replicas: 1 })
    );
}

#[tokio::test]
async fn replicas_are_not_changed_when_the_foo_has_none() {
    let mut foo = available(foo("test", 3), 0);
    let scaled = deployment(&foo);
    foo.spec.replicas = None;
    let fixture = Fixture::new(objects![foo.clone(), scaled]).await;
    fixture.sync(&foo).await;
    assert!(fixture.actions().is_empty(), "{:?}", fixture.actions());
}

#[tokio::test]
async fn renamed_deployment_replaces_the_old_one() {
    let mut foo = available(foo("test", 1), 0);
    let (old, mut foreign) = (deployment(&foo), deployment(&self::foo("other", 1)));
    foreign.metadata.labels.clone_from(&old.metadata.labels);
    "renamed".clone_into(&mut foo.spec.deployment_name);
    let fixture = Fixture::new(objects![foo.clone(), old, foreign]).await;
    fixture.sync(&foo).await;
    assert_eq!(
        fixture.actions(),
        ["create deployments.apps default/renamed", "delete deployments.apps default/test-deployment"]
    );
}

#[tokio::test]
async fn deleted_or_terminating_foo_gets_no_deployment() {
    let mut leaving = foo("test", 1);
    leaving.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    leaving.metadata.finalizers = Some(vec!["foregroundDeletion".to_owned()]);
    let fixture = Fixture::new(objects![leaving.clone()]).await;
    fixture.sync(&leaving).await;
    fixture.sync(&foo("gone", 1)).await;
    assert!(fixture.actions().is_empty(), "{:?}", fixture.actions());
}

#[tokio::test]
async fn empty_deployment_name_is_a_terminal_error() {
    let mut unnamed = foo("test", 1);
    unnamed.spec.deployment_name.clear();
    let fixture = Fixture::new(objects![unnamed.clone()]).await;
    let error = fixture.reconcile(&unnamed).await.expect_err("no name");
    assert!(error.is_terminal(), "{error}");
    assert!(fixture.actions().is_empty(), "{:?}", fixture.actions());
}

#[tokio::test]
async fn refused_create_is_reported_and_retried() {
    let foo = foo("test", 1);
    let fixture = Fixture::new(objects![foo.clone()]).await;
    fixture.clients.prepend_reactor("create", "deployments", first(1, |it| Reaction::forbidden(it, "no")));
    let error = fixture.reconcile(&foo).await.expect_err("forbidden");
    assert!(!error.is_terminal() && error.to_string().contains("forbidden"), "{error}");
    assert!(fixture.events.take().is_empty(), "nothing is synced yet");
}

#[tokio::test]
async fn stale_cache_causes_a_requeue() {
    let foo = foo("test", 1);
    let fixture = Fixture::new(objects![foo.clone()]).await;
    fixture.clients.prepend_reactor("create", "deployments", first(1, Reaction::already_exists));
    fixture.clients.prepend_reactor("update", "foos/status", first(1, Reaction::conflict));
    let action = fixture.reconcile(&foo).await.expect("no error");
    assert!(action.requeue_delay().is_some(), "a Deployment: {action:?}");
    let error = fixture.reconcile(&foo).await.expect_err("a newer Foo");
    assert!(error.is_conflict(), "{error}");
    assert!(fixture.events.take().is_empty(), "nothing is synced yet");
}

#[tokio::test]
async fn missing_status_subresource_differs_from_a_deleted_foo() {
    let foo = foo("test", 1);
    let fixture = Fixture::new(objects![foo.clone(), deployment(&foo)]).await;
    fixture.clients.prepend_reactor("update", "foos/status", Reaction::not_found);
    let error = fixture.reconcile(&foo).await.expect_err("there is nowhere to write to").to_string();
    assert!(error.contains("the object exists, but the subresource does not"), "{error}");
    fixture.clients.prepend_reactor("get", "foos", Reaction::not_found);
    fixture.sync(&foo).await;
}

#[tokio::test(start_paused = true)]
async fn foos_are_resynced_after_30_seconds_and_deployments_are_not() {
    let of_none = deployment(&foo("gone", 1));
    let clients = FakeClientset::new(objects![foo("one", 1), foo("two", 1), of_none]).expect("a fake");
    let mut manager = Manager::builder(clients.client()).build();
    let factories = Factories::new(&mut manager, None);
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let reconciler = reconcile_fn(move |_: ObjectKey| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Action::done()) }
    });
    manager.add(controller(&factories).complete(reconciler).expect("a controller"));
    manager.run(tokio::time::sleep(Duration::from_secs(95))).await.expect("it ends well");
    assert_eq!(seen.load(Ordering::Relaxed), 2 * (1 + 3) + 1, "Deployments come once");
}

#[test]
fn rate_limiter_backs_off_each_key_and_limits_all_to_50_a_second() {
    let (limiter, now) = (rate_limiter(), Instant::now());
    let delay = |name: &str| limiter.when(&ObjectKey::namespaced("default", name), now);
    let of_one: Vec<_> = (0..30).map(|_| delay("one")).collect();
    assert_eq!((of_one[0], of_one[29]), (Duration::from_millis(5), Duration::from_secs(1000)));
    let others: Vec<_> = (30..400).map(|n| delay(&n.to_string())).collect();
    assert!(others[..270].iter().all(|it| *it == Duration::from_millis(5)), "300 pass at once");
    assert_eq!(others[369], Duration::from_secs(2), "and then a hundred in two seconds");
}

#[test]
fn new_deployment_is_owned_by_the_foo() {
    let deployment = Arc::new(deployment(&foo("test", 2)));
    let owner = &deployment.metadata.owner_references.as_deref().unwrap_or_default()[0];
    assert_eq!((owner.kind.as_str(), owner.controller), ("Foo", Some(true)));
    assert_eq!(owner.api_version, "samplecontroller.k8s.io/v1alpha1");
    let spec = deployment.spec.as_ref().expect("a spec");
    let pods = spec.template.metadata.as_ref().and_then(|it| it.labels.as_ref());
    assert_eq!(spec.selector.match_labels.as_ref(), pods);
    assert_eq!(pods, Some(&deployment::labels(&foo("test", 2))));
}
