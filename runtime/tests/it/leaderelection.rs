//! Leader election against a server that stores one Lease.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::PostParams;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::leaderelection::{
    InvalidElection, LeaderCallbacks, LeaderElectionError, LeaderElector, Leadership,
};
use kubesmith_runtime::metrics::Registry;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::scripted::{Answer, Asked, client, failure};

const SECOND: Duration = Duration::from_secs(1);

/// The server's state.
#[derive(Default)]
pub(crate) struct Stored {
    lease: Option<Value>,
    version: u64,
    pub(crate) is_down: bool,
    /// The written records with their times.
    writes: Vec<(Duration, Value)>,
}

impl Stored {
    fn answer(&mut self, request: &Asked, at: Duration) -> Answer {
        if self.is_down {
            return failure(503, "ServiceUnavailable");
        }
        match (&request.method, &self.lease) {
            (&(Method::GET | Method::PUT), None) => return failure(404, "NotFound"),
            (&Method::GET, Some(lease)) => return (200, lease.clone()),
            (&Method::POST, Some(_)) => return failure(409, "AlreadyExists"),
            (&Method::PUT, Some(lease))
                if lease["metadata"]["resourceVersion"] != request.body["metadata"]["resourceVersion"] =>
            {
                return failure(409, "Conflict");
            }
            _ => {}
        }
        self.write(request.body.clone(), at);
        (200, self.lease.clone().unwrap())
    }

    fn write(&mut self, mut lease: Value, at: Duration) {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.writes.push((at, lease["spec"].clone()));
        self.lease = Some(lease);
    }
}

pub(crate) struct Server {
    pub(crate) client: kube::Client,
    pub(crate) stored: Arc<Mutex<Stored>>,
    start: Instant,
}

impl Server {
    pub(crate) fn start() -> Self {
        let stored: Arc<Mutex<Stored>> = Arc::default();
        let start = Instant::now();
        let shared = stored.clone();
        let (client, _) =
            client(move |request: &Asked| shared.lock().unwrap().answer(request, start.elapsed()));
        Server { client, stored, start }
    }

    pub(crate) fn holder(&self) -> String {
        let stored = self.stored.lock().unwrap();
        let spec = &stored.lease.as_ref().unwrap()["spec"];
        spec["holderIdentity"].as_str().unwrap().to_owned()
    }

    pub(crate) fn elector(&self, identity: &str) -> LeaderElector {
        let start = self.start;
        self.elector_by(identity, move || Timestamp::from_second(start.elapsed().as_secs() as i64).unwrap())
    }

    fn elector_by(
        &self,
        identity: &str,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> LeaderElector {
        let builder = LeaderElector::builder(self.client.clone(), "default", "operator", identity);
        builder.clock(clock).random(|| 0.5).build().unwrap()
    }

    /// Runs a candidate whose work ends with its leadership, and logs what happens to it.
    pub(crate) fn run(&self, identity: &'static str) -> Candidate {
        self.run_work(identity, |leadership| async move { leadership.ended().await })
    }

    fn run_work<F, Fut>(&self, identity: &'static str, work: F) -> Candidate
    where
        F: FnOnce(Leadership) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let log: Log = Arc::default();
        let start = self.start;
        let note = {
            let log = log.clone();
            move |text: String| log.lock().unwrap().push((text, start.elapsed()))
        };
        let (started, stopped, leader) = (note.clone(), note.clone(), note);
        let callbacks = LeaderCallbacks::new(move |leadership| async move {
            started(format!("started {}", leadership.transitions()));
            work(leadership).await;
            started("work ended".to_owned());
        })
        .on_stopped_leading(move || stopped("stopped".to_owned()))
        .on_new_leader(move |identity| leader(format!("leader {identity}")));
        let stop = CancellationToken::new();
        let run = tokio::spawn(self.elector(identity).run(callbacks, stop.clone()));
        Candidate { run, stop, log }
    }
}

pub(crate) type Log = Arc<Mutex<Vec<(String, Duration)>>>;

pub(crate) struct Candidate {
    run: JoinHandle<Result<(), LeaderElectionError>>,
    stop: CancellationToken,
    log: Log,
}

impl Candidate {
    pub(crate) async fn stop(self) -> (Result<(), LeaderElectionError>, Vec<(String, Duration)>) {
        self.stop.cancel();
        self.end().await
    }

    async fn end(self) -> (Result<(), LeaderElectionError>, Vec<(String, Duration)>) {
        let result = self.run.await.unwrap();
        let log = self.log.lock().unwrap().clone();
        (result, log)
    }
}

fn log(entries: &[(&str, u64)]) -> Vec<(String, Duration)> {
    entries.iter().map(|(text, at)| ((*text).to_owned(), Duration::from_secs(*at))).collect()
}

#[tokio::test(start_paused = true)]
async fn leader_renews_and_releases_the_lease() {
    let server = Server::start();
    let candidate = server.run("a");
    sleep(5 * SECOND).await;
    let (result, seen) = candidate.stop().await;
    result.unwrap();
    assert_eq!(seen, log(&[("leader a", 0), ("started 0", 0), ("work ended", 5), ("stopped", 5)]));
    let writes = server.stored.lock().unwrap().writes.clone();
    let record = |holder: &str, seconds: u64, acquired: u64, renewed: u64| {
        json!({
            "holderIdentity": holder, "leaseDurationSeconds": seconds, "leaseTransitions": 0,
            "acquireTime": format!("1970-01-01T00:00:0{acquired}.000000Z"),
            "renewTime": format!("1970-01-01T00:00:0{renewed}.000000Z"),
        })
    };
    let expected = [(0, "a", 15, 0), (2, "a", 15, 0), (4, "a", 15, 0), (5, "", 1, 5)];
    let expected = expected.map(|(at, holder, seconds, acquired)| {
        (Duration::from_secs(at), record(holder, seconds, acquired, at))
    });
    assert_eq!(writes, expected);
}

#[tokio::test(start_paused = true)]
async fn released_lease_is_taken_over() {
    let server = Server::start();
    let first = server.run("a");
    sleep(SECOND).await;
    let second = server.run("b");
    sleep(29 * SECOND).await;
    assert_eq!(*second.log.lock().unwrap(), log(&[("leader a", 1)]), "the lease is renewed, so it waits");
    first.stop().await.0.unwrap();
    sleep(5 * SECOND).await;
    let seen = second.log.lock().unwrap().clone();
    let texts: Vec<&str> = seen.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["leader a", "leader b", "started 1"]);
    assert!(seen[1].1 < 35 * SECOND, "within two retry periods: {seen:?}");
    second.stop().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dead_leader_is_replaced_after_the_lease_duration() {
    let server = Server::start();
    let first = server.run("a");
    sleep(SECOND).await;
    let second = server.run("b");
    sleep(SECOND).await;
    first.run.abort();
    sleep(30 * SECOND).await;
    let seen = second.log.lock().unwrap().clone();
    assert_eq!(seen[2].0, "started 1");
    // The last renewal was at 2 s or before, was seen within a jittered retry period, and lasts for 15 s.
    assert!(seen[2].1 >= 16 * SECOND && seen[2].1 <= 25 * SECOND, "{seen:?}");
    second.stop().await.0.unwrap();
}

/// Two candidates whose wall clocks show the result of `look` for the number of reads: one leads, and keeps
/// the lease.
async fn one_leads_by(look: fn(i64) -> i64) {
    let server = Server::start();
    let clock = || {
        let looks = AtomicU64::new(0);
        move || {
            let seconds = look(looks.fetch_add(1, Ordering::Relaxed) as i64);
            Timestamp::from_second(1_800_000_000 + seconds).unwrap()
        }
    };
    let stop = CancellationToken::new();
    let leaders: Log = Arc::default();
    let candidates = ["a", "b"].map(|identity| {
        let (log, start) = (Arc::clone(&leaders), server.start);
        let callbacks = LeaderCallbacks::new(move |leadership| async move {
            log.lock().unwrap().push((identity.to_owned(), start.elapsed()));
            leadership.ended().await;
        });
        let elector = server.elector_by(identity, clock());
        tokio::spawn(elector.run(callbacks, stop.clone()))
    });
    sleep(600 * SECOND).await;
    let led = leaders.lock().unwrap().clone();
    assert_eq!(led.len(), 1, "{led:?}");
    stop.cancel();
    for candidate in candidates {
        candidate.await.unwrap().unwrap();
    }
}

/// The wall clock is written into the lease, and no decision depends on it.
#[tokio::test(start_paused = true)]
async fn wall_clock_jumps_do_not_move_the_lease() {
    const DECADE: i64 = 315_360_000;
    one_leads_by(|look| look + DECADE * (look % 5)).await;
    one_leads_by(|look| -look * DECADE / 10).await;
}

#[tokio::test(start_paused = true)]
async fn stopped_wall_clock_keeps_the_leader() {
    one_leads_by(|_| 0).await;
}

#[tokio::test(start_paused = true)]
async fn leader_that_cannot_renew_gives_up_in_time() {
    let server = Server::start();
    let registry = Registry::new();
    let candidate = server.run_work("a", {
        move |leadership: Leadership| async move {
            leadership.ended().await;
            assert!(!leadership.is_valid());
        }
    });
    sleep(5 * SECOND).await;
    server.stored.lock().unwrap().is_down = true;
    let (result, seen) = candidate.end().await;
    let error = result.unwrap_err();
    assert!(matches!(error, LeaderElectionError::Lost { .. }), "{error}");
    // The last renewal was sent at 4 s.
    assert_eq!(seen, log(&[("leader a", 0), ("started 0", 0), ("work ended", 14), ("stopped", 14)]));
    assert_eq!(registry.encode(), "# EOF\n");
}

#[tokio::test(start_paused = true)]
async fn stuck_work_is_aborted_before_others_may_lead() {
    let server = Server::start();
    let candidate = server.run_work("a", |_| std::future::pending());
    sleep(SECOND).await;
    server.stored.lock().unwrap().is_down = true;
    let (result, seen) = candidate.end().await;
    assert!(result.is_err());
    assert_eq!(seen, log(&[("leader a", 0), ("started 0", 0), ("stopped", 15)]));
}

#[tokio::test(start_paused = true)]
async fn stolen_lease_ends_the_leadership_at_once() {
    let server = Server::start();
    let candidate = server.run("a");
    sleep(SECOND).await;
    {
        let mut stored = server.stored.lock().unwrap();
        let mut lease = stored.lease.clone().unwrap();
        lease["spec"]["holderIdentity"] = json!("thief");
        stored.write(lease, SECOND);
    }
    let (result, seen) = candidate.end().await;
    assert!(result.is_err());
    let expected = [("leader a", 0), ("started 0", 0), ("leader thief", 2)];
    assert_eq!(seen[..3], log(&expected));
    assert_eq!(seen.last(), log(&[("stopped", 2)]).last());
    assert_eq!(server.holder(), "thief");
}

#[tokio::test(start_paused = true)]
async fn deleted_lease_is_created_again_with_a_higher_term() {
    let server = Server::start();
    let candidate = server.run("a");
    sleep(SECOND).await;
    server.stored.lock().unwrap().lease = None;
    sleep(5 * SECOND).await;
    assert_eq!(server.holder(), "a");
    assert_eq!(server.stored.lock().unwrap().lease.as_ref().unwrap()["spec"]["leaseTransitions"], 1);
    candidate.stop().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lease_is_held_until_the_work_has_ended() {
    let server = Server::start();
    let candidate = server.run_work("a", |leadership| async move {
        leadership.ended().await;
        sleep(40 * SECOND).await;
        assert!(leadership.is_valid(), "renewed all the time");
    });
    sleep(SECOND).await;
    candidate.stop.cancel();
    sleep(39 * SECOND).await;
    assert_eq!(server.holder(), "a");
    let (result, seen) = candidate.end().await;
    result.unwrap();
    assert_eq!(seen[2..], log(&[("work ended", 41), ("stopped", 41)]));
    assert_eq!(server.holder(), "");
}

#[tokio::test(start_paused = true)]
async fn panicking_work_releases_the_lease() {
    let server = Server::start();
    let candidate = server.run_work("a", |_| async { panic!("broken") });
    let (result, _) = candidate.end().await;
    let error = result.unwrap_err();
    assert!(matches!(error, LeaderElectionError::Panicked { .. }), "{error}");
    assert_eq!(server.holder(), "");
}

#[tokio::test(start_paused = true)]
async fn candidate_can_be_stopped() {
    let server = Server::start();
    let leader = server.run("a");
    sleep(SECOND).await;
    let candidate = server.run("b");
    sleep(SECOND).await;
    let (result, seen) = candidate.stop().await;
    result.unwrap();
    assert_eq!(seen, log(&[("leader a", 1), ("stopped", 2)]));
    assert_eq!(server.holder(), "a");
    leader.stop().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn candidates_and_leases_without_a_name_are_refused() {
    let server = Server::start();
    let built = |namespace: &str, name: &str, identity: &str| {
        LeaderElector::builder(server.client.clone(), namespace, name, identity).build().map(drop)
    };
    assert_eq!(built("default", "operator", "a"), Ok(()));
    // A lease without a holder is free, so that several would lead.
    assert_eq!(built("default", "operator", ""), Err(InvalidElection::Identity));
    assert_eq!(built("default", "", "a"), Err(InvalidElection::Lease));
    assert_eq!(built("", "operator", "a"), Err(InvalidElection::Lease));
}

#[tokio::test(start_paused = true)]
async fn metrics_show_the_leader() {
    let server = Server::start();
    let registry = Registry::new();
    let builder =
        LeaderElector::builder(server.client.clone(), "default", "operator", "a").metrics(&registry);
    let stop = CancellationToken::new();
    let callbacks = LeaderCallbacks::new(|leadership| async move { leadership.ended().await });
    let run = tokio::spawn(builder.build().unwrap().run(callbacks, stop.clone()));
    sleep(SECOND).await;
    assert!(registry.encode().contains("leader_election_master_status{name=\"operator\"} 1.0\n"));
    assert!(registry.encode().contains("leader_election_slowpath_total{name=\"operator\"} 0\n"));
    // The leader does not know of this write, so its next one fails, and it reads the lease.
    let leases: Api<Lease> = Api::namespaced(server.client.clone(), "default");
    let lease = leases.get("operator").await.unwrap();
    leases.replace("operator", &PostParams::default(), &lease).await.unwrap();
    sleep(SECOND * 5).await;
    assert!(registry.encode().contains("leader_election_slowpath_total{name=\"operator\"} 1\n"));
    stop.cancel();
    run.await.unwrap().unwrap();
    assert!(registry.encode().contains("leader_election_master_status{name=\"operator\"} 0.0\n"));
}
