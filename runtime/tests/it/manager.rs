//! The manager: the order in which its parts start and stop, and what ends it.

use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{Action, CancellationToken, ControllerBuilder, reconcile_fn};
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::metrics::prometheus_client::metrics::counter::Counter;
use kubesmith_runtime::record::EventType;
use tokio::time::{Instant, sleep};

use crate::fake::{FakeServer, map};
use crate::leaderelection::Server;
use crate::scripted::{Asked, client, failure};

const SECOND: Duration = Duration::from_secs(1);

type Log = Arc<Mutex<Vec<String>>>;

/// Runs until it is stopped, then for another second, and says so.
fn logging(log: &Log, name: &'static str) -> impl FnOnce(CancellationToken) -> Run + Send + 'static {
    let log = log.clone();
    move |stop| {
        Box::pin(async move {
            log.lock().unwrap().push(format!("{name} started"));
            stop.cancelled().await;
            sleep(SECOND).await;
            log.lock().unwrap().push(format!("{name} ended"));
            Ok(())
        })
    }
}

type Run = std::pin::Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

fn manager() -> Manager {
    let (client, _) = client(|_: &Asked| failure(500, "Unexpected"));
    Manager::builder(client).build()
}

async fn after(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn groups_stop_in_order() {
    let log = Log::default();
    let mut manager = manager();
    manager.add_runnable("leader", logging(&log, "leader"));
    manager.add_runnable_on_every_replica("replica", logging(&log, "replica"));
    let start = Instant::now();
    manager.run(after(5)).await.unwrap();
    let log = log.lock().unwrap();
    assert_eq!(log[2..], ["replica ended", "leader ended"], "{log:?}");
    assert_eq!(start.elapsed(), 7 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn first_failure_stops_everything() {
    let log = Log::default();
    let mut manager = manager();
    manager.add_runnable("works", logging(&log, "works"));
    manager.add_runnable("ends", |_| async { Ok::<_, io::Error>(()) });
    manager.add_runnable_on_every_replica("fails", |_| async {
        sleep(3 * SECOND).await;
        Err("no disk")
    });
    let error = manager.run(pending()).await.unwrap_err();
    assert_eq!(error.to_string(), "fails failed: no disk");
    assert_eq!(*log.lock().unwrap(), ["works started", "works ended"]);
}

#[tokio::test(start_paused = true)]
async fn panicking_runnable_is_a_failure() {
    let mut manager = manager();
    manager
        .add_runnable("broken", |_| async { if true { panic!("broken") } else { Ok::<_, io::Error>(()) } });
    let error = manager.run(pending()).await.unwrap_err();
    assert_eq!(error.to_string(), "broken failed: it panicked");
}

#[tokio::test(start_paused = true)]
async fn stuck_runnable_is_aborted_after_the_grace_period() {
    let held = Arc::new(());
    let kept = held.clone();
    let mut manager = manager();
    manager.add_runnable("stubborn", |_| async move {
        let _kept = kept;
        pending::<io::Result<()>>().await
    });
    let start = Instant::now();
    let error = manager.run(after(1)).await.unwrap_err();
    assert!(matches!(error, ManagerError::ShutdownTimeout(_)), "{error}");
    assert_eq!(start.elapsed(), 31 * SECOND);
    sleep(SECOND).await;
    assert_eq!(Arc::strong_count(&held), 1, "its task is gone");
}

#[tokio::test(start_paused = true)]
async fn leaders_work_waits_for_the_lease_and_holds_it_to_the_end() {
    let server = Server::start();
    let log = Log::default();
    let other = server.run("other");
    sleep(SECOND).await;
    let mut manager = Manager::builder(server.client.clone()).leader_election(server.elector("me")).build();
    manager.add_runnable("leader", logging(&log, "leader"));
    manager.add_runnable_on_every_replica("replica", logging(&log, "replica"));
    let stop = CancellationToken::new();
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    sleep(20 * SECOND).await;
    assert_eq!(*log.lock().unwrap(), ["replica started"]);
    other.stop().await.0.unwrap();
    sleep(20 * SECOND).await;
    assert_eq!(server.holder(), "me");
    stop.cancel();
    sleep(SECOND + SECOND / 2).await;
    assert_eq!(log.lock().unwrap()[1..], ["leader started", "replica ended"]);
    assert_eq!(server.holder(), "me", "the leader's work has not ended");
    run.await.unwrap().unwrap();
    assert_eq!(log.lock().unwrap()[3..], ["leader ended"]);
    assert_eq!(server.holder(), "", "given back");
}

#[tokio::test(start_paused = true)]
async fn standby_has_filled_caches_and_queues_and_works_at_once() {
    let (mut server, leases) = (FakeServer::new(), Server::start());
    let other = leases.run("other");
    sleep(SECOND).await;
    let mut manager = Manager::builder(server.client()).leader_election(leases.elector("me")).build();
    let maps = manager.factory().informer_for::<ConfigMap>();
    let log = Log::default();
    let seen = log.clone();
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        seen.lock().unwrap().push(key.to_string());
        async { Ok(Action::done()) }
    });
    let mut controller = ControllerBuilder::new("maps").for_(&maps).complete(reconciler).unwrap();
    let state = controller.state();
    manager.add(controller);
    let leader = manager.leader();
    let stop = CancellationToken::new();
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    let watch = server.sync(&[map("a", 1)], "5").await;
    sleep(SECOND).await;
    for version in 6..9 {
        watch.event("MODIFIED", &map("a", version));
    }
    watch.event("ADDED", &map("b", 9));
    sleep(20 * SECOND).await;
    assert!(leader.leadership().is_none() && log.lock().unwrap().is_empty());
    assert_eq!(
        (maps.store().len(), state.queue().waiting),
        (2, 2),
        "a key waits once, however often it changes"
    );

    other.stop().await.0.unwrap();
    while leader.leadership().is_none() {
        sleep(SECOND / 10).await;
    }
    sleep(SECOND / 10).await;
    assert_eq!(log.lock().unwrap().len(), 2);
    stop.cancel();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn reconcilers_get_their_fencing_token() {
    let server = Server::start();
    let former = server.run("former");
    sleep(SECOND).await;
    let mut manager = Manager::builder(server.client.clone()).leader_election(server.elector("me")).build();
    let (leader, seen) = (manager.leader(), manager.leader());
    assert_eq!((seen.fencing_token(), seen.leadership().is_none()), (None, true));
    let tokens: Arc<Mutex<Vec<Option<i32>>>> = Arc::default();
    let log = tokens.clone();
    manager.add_runnable("leader", move |stop| async move {
        log.lock().unwrap().push(leader.fencing_token());
        stop.cancelled().await;
        Ok::<_, io::Error>(())
    });
    let stop = CancellationToken::new();
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    former.stop().await.0.unwrap();
    sleep(20 * SECOND).await;
    assert_eq!(*tokens.lock().unwrap(), [Some(1)], "the second to lead");
    assert_eq!(seen.fencing_token(), Some(1));
    stop.cancel();
    run.await.unwrap().unwrap();
    assert_eq!(seen.fencing_token(), None, "it no longer holds the lease");
}

#[tokio::test(start_paused = true)]
async fn failure_of_the_leaders_work_releases_the_lease() {
    let server = Server::start();
    let mut manager = Manager::builder(server.client.clone()).leader_election(server.elector("me")).build();
    manager.add_runnable("fails", |_| async { Err::<(), _>("no disk") });
    let error = manager.run(pending()).await.unwrap_err();
    assert_eq!(error.to_string(), "fails failed: no disk");
    assert_eq!(server.holder(), "");
}

#[tokio::test(start_paused = true)]
async fn lost_lease_ends_the_manager() {
    let server = Server::start();
    let manager = Manager::builder(server.client.clone()).leader_election(server.elector("me")).build();
    let run = tokio::spawn(manager.run(pending()));
    sleep(SECOND).await;
    server.stored.lock().unwrap().is_down = true;
    let error = run.await.unwrap().unwrap_err();
    assert!(matches!(error, ManagerError::Leader(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn events_are_written_before_the_end() {
    let (client, log) = client(|request: &Asked| (201, request.body.clone()));
    let mut manager = Manager::builder(client).build();
    let recorder = manager.event_recorder_for("maps");
    let events = manager.event_recorder("example.com/maps");
    manager.add_runnable("records", move |stop| async move {
        stop.cancelled().await;
        recorder.event(&ConfigMap::default(), EventType::Normal, "Stopped", "at the last moment");
        events.event(&ConfigMap::default(), EventType::Normal, "Stopped", "Stop", "in the other group");
        Ok::<_, io::Error>(())
    });
    manager.run(after(1)).await.unwrap();
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 2);
    let find = |api: &str| log.iter().find(|request| request.uri.starts_with(api)).unwrap();
    assert_eq!(find("/api/v1/").body["message"], "at the last moment");
    assert_eq!(find("/apis/events.k8s.io/v1/").body["note"], "in the other group");
}

#[tokio::test(start_paused = true)]
async fn caches_that_do_not_fill_end_the_manager() {
    let manager = manager();
    let _maps = manager.factory().informer_for::<ConfigMap>();
    let start = Instant::now();
    let error = manager.run(pending()).await.unwrap_err();
    assert!(matches!(error, ManagerError::Caches(_)), "{error}");
    assert_eq!(start.elapsed(), 120 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn informers_of_further_factories_are_run_with_the_managers_own() {
    let mut server = FakeServer::new();
    let mut manager = Manager::builder(server.client()).build();
    let elsewhere = SharedInformerFactory::builder(server.client()).namespace("elsewhere").build();
    let maps = elsewhere.informer_for::<ConfigMap>();
    manager.add_informers(&elsewhere);
    let log = Log::default();
    manager.add_runnable("work", logging(&log, "work"));
    let stop = CancellationToken::new();
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    sleep(SECOND).await;
    assert!(maps.is_started() && log.lock().unwrap().is_empty(), "work waits for the cache");
    let _watch = server.sync(&[map("a", 1)], "5").await;
    sleep(SECOND).await;
    assert_eq!(*log.lock().unwrap(), ["work started"]);
    stop.cancel();
    run.await.unwrap().unwrap();
    assert!(maps.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn caches_of_all_factories_are_named_when_they_do_not_fill() {
    let mut manager = manager();
    let _maps = manager.factory().informer_for::<ConfigMap>();
    let secrets = SharedInformerFactory::builder(manager.client().clone()).name("secrets").build();
    let _secrets = secrets.informer_for::<Secret>();
    manager.add_informers(&secrets);
    let error = manager.run(pending()).await.unwrap_err().to_string();
    assert!(error.contains("configmaps: ") && error.contains("secrets: "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn stop_ends_the_wait_for_caches() {
    let manager = manager();
    let _maps = manager.factory().informer_for::<ConfigMap>();
    manager.run(after(3)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn given_registry_shows_the_managers_metrics_beside_others() {
    let registry = Registry::new();
    let others: Counter = Counter::default();
    registry.register("of_others", "Others", others.clone());
    others.inc();
    let (client, _) = client(|_: &Asked| failure(500, "Unexpected"));
    let manager = Manager::builder(client.clone()).metrics(&registry).build();
    let _maps = manager.factory().informer_for::<ConfigMap>();
    let text = manager.metrics().encode();
    assert!(text.contains("of_others_total 1") && text.contains("informer_objects{"), "{text}");

    // A given factory keeps its own settings, in either order of the calls.
    let own = || SharedInformerFactory::builder(client.clone()).name("own").build();
    let first = Manager::builder(client.clone()).factory(own()).metrics(&registry).build();
    let second = Manager::builder(client.clone()).metrics(&registry).factory(own()).build();
    assert_eq!([first.factory().name(), second.factory().name()], [Some("own"); 2]);
}

#[tokio::test(start_paused = true)]
async fn controllers_run_on_the_shared_informers() {
    let mut server = FakeServer::new();
    let mut manager = Manager::builder(server.client()).build();
    let maps = manager.factory().informer_for::<ConfigMap>();
    let log = Log::default();
    let seen = log.clone();
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        seen.lock().unwrap().push(key.to_string());
        async { Ok(Action::done()) }
    });
    let controller = ControllerBuilder::new("maps").for_(&maps).metrics(manager.metrics());
    manager.add(controller.complete(reconciler).unwrap());
    let registry = manager.metrics().clone();
    let stop = CancellationToken::new();
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    let watch = server.sync(&[map("a", 1)], "5").await;
    sleep(SECOND).await;
    watch.event("ADDED", &map("b", 6));
    sleep(SECOND).await;
    assert_eq!(*log.lock().unwrap(), ["default/a", "default/b"]);
    let line = "controller_runtime_reconcile_total{controller=\"maps\",result=\"success\"} 2";
    assert!(registry.encode().contains(line));
    stop.cancel();
    run.await.unwrap().unwrap();
    assert!(maps.is_stopped());
}
