//! The controller of IPPool on the embedded API server, or on whichever server the environment chooses.

use std::collections::BTreeMap;
use std::time::Duration;

use ippool_api::tsi::v1alpha1::{ADDRESS_ANNOTATION, IPPool, IPPoolSpec, POOL_ANNOTATION};
use ippool_client::clientset::Clientset;
use ippool_client::clientset::typed::tsi::v1alpha1::IPPools;
use ippool_controller::ip_pool::{self, FINALIZER};
use k8s_openapi::api::core::v1::{Container, Event, Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{CancellationToken, Reconciler};
use kubesmith_runtime::kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::kube::{Api, Client};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_runtime::serde_json::{Value, json};
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
use operator_testing::{Cluster, Needs, eventually, in_time};
use tokio::task::JoinHandle;

const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac");

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(30);

async fn cluster() -> Cluster {
    Cluster::start(Needs::Api, Some(CRDS)).await.with_roles(ROLES).await
}

/// The controller, and a pool called like the test's namespace: it has none, and other tests have pools too.
struct Running {
    cluster: Cluster,
    pools: IPPools,
    pods: Api<Pod>,
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Running {
    async fn start() -> Self {
        let cluster = cluster().await;
        let client = cluster.operator_client();
        Self::with(cluster, client)
    }

    /// The controller uses `broken`, the test does not.
    fn with(cluster: Cluster, broken: Client) -> Self {
        let client = cluster.client();
        let mut manager = Manager::builder(broken).build();
        ip_pool::add_to_manager(&mut manager, 2).expect("the controller is built");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        let pools = Clientset::new(client.clone()).tsi_v1alpha1().ip_pools();
        let pods = Api::namespaced(client, &cluster.namespace);
        Running { cluster, pools, pods, stop, manager }
    }

    fn pool(&self) -> &str {
        &self.cluster.namespace
    }

    async fn create(&self, cidr: &str) {
        let pool = pool(self.pool(), cidr);
        self.pools.create(&pool, &PostParams::default()).await.expect("the pool is valid");
    }

    /// With its last pods the pool goes too.
    async fn stop(self) {
        let deleted = self.pools.delete(self.pool(), &DeleteParams::default()).await;
        assert!(deleted.as_ref().map_or_else(|error| error.is_not_found(), |_| true), "{deleted:?}");
        self.pods.delete_collection(&DeleteParams::default(), &ListParams::default()).await.expect("deleted");
        self.gone().await;
        self.stop.cancel();
        in_time("the manager ends", self.manager).await.expect("no panic").expect("no error");
        self.cluster.stop().await;
    }

    async fn gone(&self) {
        let gone = async || self.pools.get(self.pool()).await.is_err().then_some(());
        eventually("the pool goes with its last address", gone).await;
    }

    async fn pod(&self, name: &str, address: &str) {
        let annotations = [(POOL_ANNOTATION, self.pool()), (ADDRESS_ANNOTATION, address)];
        let pod = Pod {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
                ..ObjectMeta::default()
            },
            spec: Some(PodSpec {
                containers: vec![Container {
                    name: "main".to_owned(),
                    image: Some("pause".to_owned()),
                    ..Container::default()
                }],
                ..PodSpec::default()
            }),
            ..Pod::default()
        };
        self.pods.create(&PostParams::default(), &pod).await.expect("the pod is valid");
    }

    /// Waits until the pool is as the test wants it.
    async fn until(&self, what: &str, wanted: impl Fn(&IPPool) -> bool) -> IPPool {
        eventually(what, async || {
            let pool = self.pools.get(self.pool()).await.expect("the pool is there");
            wanted(&pool).then_some(pool)
        })
        .await
    }
}

fn pool(name: &str, cidr: &str) -> IPPool {
    IPPool {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: IPPoolSpec {
            cidr: cidr.to_owned(),
            gateway: Some("10.1.0.1".to_owned()),
            block_size: 30,
            ..IPPoolSpec::default()
        },
        ..IPPool::default()
    }
}

fn counts(pool: &IPPool) -> Option<(i64, i64, i64)> {
    pool.status.as_ref().map(|status| (status.allocated, status.free, status.blocks))
}

/// `Ready=True Counted`
fn conditions(pool: &IPPool) -> BTreeMap<String, String> {
    let conditions = pool.status.iter().flat_map(|status| &status.conditions);
    conditions.map(|found| (found.type_.clone(), format!("{} {}", found.status, found.reason))).collect()
}

#[tokio::test]
async fn pool_status_follows_its_pods() {
    let running = Running::start().await;
    running.create("10.1.0.0/29").await;
    let seen = running.until("counted", |pool| counts(pool) == Some((0, 5, 0))).await;
    assert_eq!(conditions(&seen)["Ready"], "True Counted");
    assert_eq!(seen.status.expect("it has one").observed_generation, seen.metadata.generation);

    for (name, address) in [("a", "10.1.0.2"), ("b", "10.1.0.5"), ("c", "10.1.0.6")] {
        running.pod(name, address).await;
    }
    running.until("three", |pool| counts(pool) == Some((3, 2, 2))).await;
    running.pod("d", "10.1.0.6").await;
    let twice =
        |pool: &IPPool| conditions(pool).get("Ready").is_some_and(|ready| ready == "False DuplicateAddress");
    running.until("a duplicate", twice).await;
    running.pods.delete("d", &DeleteParams::default()).await.expect("it is there");
    running.pod("e", "10.9.0.1").await;
    let foreign =
        |pool: &IPPool| conditions(pool).get("Ready").is_some_and(|ready| ready == "False ForeignAddress");
    running.until("a foreign address", foreign).await;
    running.pods.delete("e", &DeleteParams::default()).await.expect("it is there");

    for (name, address) in [("f", "10.1.0.3"), ("g", "10.1.0.4")] {
        running.pod(name, address).await;
    }
    let full = running.until("exhausted", |pool| counts(pool) == Some((5, 0, 2))).await;
    assert_eq!(conditions(&full)["Available"], "False Exhausted");

    // A pod that has ended gives its address back.
    let done = Patch::Merge(succeeded());
    running.pods.patch_status("f", &PatchParams::default(), &done).await.expect("it is there");
    running.until("given back", |pool| counts(pool) == Some((4, 1, 2))).await;
    let events: Api<Event> = Api::all(running.cluster.client());
    eventually("an event tells of it", async || {
        let all = events.list(&ListParams::default()).await.expect("events");
        let is_it = |event: &Event| {
            event.involved_object.name.as_deref() == Some(running.pool())
                && event.reason.as_deref() == Some("Exhausted")
        };
        all.into_iter().find(is_it)
    })
    .await;
    running.stop().await;
}

fn succeeded() -> Value {
    json!({"status": {"phase": "Succeeded"}})
}

#[tokio::test]
async fn pool_in_use_is_not_deleted() {
    let running = Running::start().await;
    running.create("10.1.0.0/24").await;
    running.pod("a", "10.1.0.2").await;
    let has_finalizer =
        |pool: &IPPool| pool.metadata.finalizers.iter().flatten().any(|name| name == FINALIZER);
    running.until("in use", |pool| has_finalizer(pool) && counts(pool) == Some((1, 252, 1))).await;
    running.pools.delete(running.pool(), &DeleteParams::default()).await.expect("it is there");
    running.until("going", |pool| pool.metadata.deletion_timestamp.is_some() && has_finalizer(pool)).await;
    running.pods.delete("a", &DeleteParams::default()).await.expect("it is there");
    running.gone().await;
    running.stop().await;
}

#[tokio::test]
#[cfg_attr(not(backend = "embedded"), ignore = "only the embedded server knows what a role is used for")]
async fn role_allows_exactly_the_requests_of_the_operator() {
    let running = Running::start().await;
    running.create("10.1.0.0/29").await;
    running.pod("a", "10.1.0.2").await;
    // An event that comes again is patched.
    let ready = |status: &'static str| {
        move |pool: &IPPool| conditions(pool).get("Ready").is_some_and(|ready| ready.starts_with(status))
    };
    for _ in 0..2 {
        running.pod("b", "10.1.0.2").await;
        running.until("a duplicate", ready("False")).await;
        running.pods.delete("b", &DeleteParams::default()).await.expect("it is there");
        running.until("no duplicate", ready("True")).await;
    }
    running.pools.delete(running.pool(), &DeleteParams::default()).await.expect("it is there");
    running.pods.delete("a", &DeleteParams::default()).await.expect("it is there");
    running.gone().await;
    // A pool is read past the cache only when its status has nowhere to go.
    let unused = ["get ippools.tsi.tiduyun.com", "list ippools.tsi.tiduyun.com"];
    running.cluster.role_is_minimal(&unused).await;
    running.stop().await;
}

#[tokio::test]
#[cfg_attr(backend = "existing_cluster", ignore = "other tests have pods that the watch begins with")]
async fn pool_is_not_deleted_when_the_cache_lacks_its_pod() {
    let cluster = cluster().await;
    let watch = |fault, n| Rule::new(fault).verb(Verb::Watch).resource("pods").nth(n);
    let asked = Rule::new(Fault::Delay(Duration::ZERO)).verb(Verb::List).resource("pods");
    // The first watch tells that there is none, the second one nothing.
    let schedule =
        Schedule::new().rule(watch(Fault::EndWatch(1), 1)).rule(watch(Fault::SilenceWatch(None), 2));
    let proxy = cluster.env.fault_proxy(schedule.rule(asked)).await.expect("a proxy");
    let client = proxy.client();
    let running = Running::with(cluster, client);
    let injected = async |count| {
        eventually("it asks the server", async || (proxy.injections().len() >= count).then_some(())).await;
    };
    injected(2).await;
    running.create("10.1.0.0/24").await;
    running.until("counted", |pool| counts(pool) == Some((0, 253, 0))).await;
    running.pod("a", "10.1.0.2").await;
    running.pools.delete(running.pool(), &DeleteParams::default()).await.expect("it is there");
    injected(3).await;
    running.until("kept", |pool| pool.metadata.deletion_timestamp.is_some()).await;
    running.stop.cancel();
    in_time("the manager ends", running.manager).await.expect("no panic").expect("no error");
    assert!(running.pools.get(&running.cluster.namespace).await.is_ok(), "{}", proxy.report());
    running.cluster.stop().await;
    proxy.stop().await;
}

#[tokio::test]
async fn schema_refuses_invalid_pools() {
    let cluster = cluster().await;
    let pools = Clientset::new(cluster.client()).tsi_v1alpha1().ip_pools();
    let with = |change: fn(&mut IPPoolSpec)| {
        let mut pool = pool(&cluster.namespace, "10.1.0.0/24");
        change(&mut pool.spec);
        pool
    };
    for (pool, message) in [
        (with(|spec| spec.cidr = "10.1.0.0".to_owned()), "write it like 10.1.0.0/16"),
        (with(|spec| spec.gateway = Some("10.2.0.1".to_owned())), "the gateway has to lie in the pool"),
        (with(|spec| spec.gateway = Some("gate".to_owned())), "write it like 10.1.0.1"),
        (with(|spec| spec.block_size = 8), "a block cannot be larger than the pool"),
        (
            with(|spec| spec.excluded_addresses = vec!["10.1.0.0/33".to_owned()]),
            "neither an address nor a range",
        ),
    ] {
        let error = pools.create(&pool, &PostParams::default()).await.expect_err(message);
        assert!(error.is_invalid() && error.to_string().contains(message), "{error}");
    }
    let made = pool(&cluster.namespace, "10.1.0.0/24");
    pools.create(&made, &PostParams::default()).await.expect("the pool is valid");
    // No update: on a cluster that tests share, the controller of another one may have written meanwhile.
    let changed = Patch::Merge(json!({"spec": {"cidr": "10.1.0.0/23"}}));
    let patched = pools.patch(&cluster.namespace, &PatchParams::default(), &changed).await;
    let error = patched.expect_err("the range stays");
    assert!(error.to_string().contains("the addresses of a pool do not change"), "{error}");
    pools.delete(&cluster.namespace, &DeleteParams::default()).await.expect("deleted");
    cluster.stop().await;
}

#[tokio::test]
#[cfg_attr(backend = "existing_cluster", ignore = "a cluster's CRDs are everybody's")]
async fn missing_status_subresource_is_not_taken_for_a_deletion() {
    let cluster = Cluster::start_without_subresources(CRDS).await;
    let pools = Clientset::new(cluster.client()).tsi_v1alpha1().ip_pools();
    let pool = pool("pool", "10.1.0.0/24");
    let pool = pools.create(&pool, &PostParams::default()).await.expect("created");
    let mut manager = Manager::builder(cluster.client()).build();
    let reconciler = ip_pool::reconciler(&mut manager).expect("a new manager takes indexes");
    manager.factory().start();
    manager.factory().wait_for_cache_sync(LIMIT).await.expect("full caches");
    let error = reconciler.reconcile(&ObjectKey::of(&pool)).await.expect_err("nowhere to write to");
    assert!(error.to_string().contains("the object exists, but the subresource does not"), "{error}");
    manager.factory().shutdown().await;
    cluster.stop().await;
}
