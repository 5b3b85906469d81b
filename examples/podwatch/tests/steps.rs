//! The three steps on the embedded API server, or on the server that the environment chooses.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::labels::Selector;
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
use operator_testing::{Cluster, Needs, eventually, run};
use podwatch::generated::clientset::Clientset;
use podwatch::generated::clientset::typed::core::v1::NamespacedPods;
use podwatch::generated::informers::SharedInformerFactory;
use podwatch::informer::RETRIES;
use podwatch::{informer, plain, typed};
use serde_json::json;
use tokio::task::JoinHandle;

/// Records the printed text. Lines with the word that `refuse` sets fail, as in a closed pipe.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    text: String,
    refused: Option<&'static str>,
    refusals: usize,
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().expect("no panic");
        let text = String::from_utf8_lossy(bytes);
        if state.refused.is_some_and(|word| text.contains(word)) {
            state.refusals += 1;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.text.push_str(&text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Printed {
    fn refuse(&self, word: Option<&'static str>) {
        self.0.lock().expect("no panic").refused = word;
    }

    fn refusals(&self) -> usize {
        self.0.lock().expect("no panic").refusals
    }

    fn text(&self) -> String {
        self.0.lock().expect("no panic").text.clone()
    }

    /// Waits until this line has been printed this number of times.
    async fn shows(&self, line: &str, times: usize) {
        let shown = || self.text().lines().filter(|it| *it == line).count();
        eventually(&format!("{times} times {line:?}"), async || (shown() >= times).then_some(())).await;
    }
}

async fn cluster() -> Cluster {
    let cluster = Cluster::start(Needs::Api, None).await;
    cluster.with_roles(concat!(env!("CARGO_MANIFEST_DIR"), "/config/rbac")).await
}

fn pods(cluster: &Cluster) -> NamespacedPods {
    Clientset::new(cluster.client()).core_v1().pods().namespace(&cluster.namespace)
}

async fn create(cluster: &Cluster, name: &str) {
    create_on(cluster, name, None).await;
}

async fn create_on(cluster: &Cluster, name: &str, node: Option<&str>) {
    let container = Container {
        name: "main".to_owned(),
        image: Some("registry.k8s.io/pause:3.10".to_owned()),
        ..Container::default()
    };
    let pod = Pod {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: Some(PodSpec {
            containers: vec![container],
            node_name: node.map(str::to_owned),
            ..PodSpec::default()
        }),
        ..Pod::default()
    };
    let pods = pods(cluster);
    // In a cluster, the namespace may still be waiting for its service account.
    eventually("the pod is created", async || pods.create(&pod, &PostParams::default()).await.ok()).await;
}

async fn change(cluster: &Cluster, name: &str, value: &str) {
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "test": value } } }));
    pods(cluster).patch(name, &PatchParams::default(), &patch).await.expect("changed");
}

async fn delete(cluster: &Cluster, name: &str) {
    let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    pods(cluster).delete(name, &at_once).await.expect("deleted");
}

/// An existing pod is changed and deleted, and each of these is printed.
async fn watches<F: Future<Output = anyhow::Result<()>> + Send + 'static>(
    watch: impl FnOnce(Client, String, Printed) -> F,
    lines: [&str; 3],
) {
    let cluster = cluster().await;
    create(&cluster, "web").await;
    let printed = Printed::default();
    let watching = tokio::spawn(watch(cluster.operator_client(), cluster.namespace.clone(), printed.clone()));
    printed.shows(lines[0], 1).await;
    change(&cluster, "web", "changed").await;
    printed.shows(lines[1], 1).await;
    delete(&cluster, "web").await;
    printed.shows(lines[2], 1).await;
    watching.abort();
    cluster.stop().await;
}

#[test]
fn plain_request_prints_every_event() {
    run(watches(
        |client, namespace, mut out| async move { plain::watch(&client, &namespace, &mut out).await },
        ["ADDED Pod web", "MODIFIED Pod web", "DELETED Pod web"],
    ));
}

#[test]
fn typed_watch_prints_every_event() {
    run(watches(
        |client, namespace, mut out| async move {
            typed::watch(&Clientset::new(client), &namespace, &mut out).await
        },
        ["Pod web added", "Pod web modified", "Pod web deleted"],
    ));
}

#[test]
fn expired_watch_ends_with_the_servers_error() {
    run(async {
        let cluster = cluster().await;
        let expired = Schedule::new().rule(Rule::new(Fault::ExpireWatch(0)).verb(Verb::Watch));
        let proxy = cluster.env.fault_proxy(expired).await.expect("a proxy");
        let (client, mut out) = (proxy.client(), Printed::default());
        let plain = plain::watch(&client, &cluster.namespace, &mut out).await;
        let typed = typed::watch(&Clientset::new(client), &cluster.namespace, &mut out).await;
        for result in [plain, typed] {
            let error = result.expect_err("it expires").to_string();
            assert!(error.starts_with("the server ends the watch: "), "{error}");
        }
        proxy.stop().await;
        cluster.stop().await;
    });
}

/// The third step on a server.
struct Informer {
    printed: Printed,
    stop: CancellationToken,
    watching: JoinHandle<anyhow::Result<()>>,
}

impl Informer {
    fn start(client: Client, namespace: &str) -> Self {
        Self::with(informer::factory(&Clientset::new(client), namespace, None))
    }

    fn with(factory: SharedInformerFactory) -> Self {
        let (printed, stop) = (Printed::default(), CancellationToken::new());
        let (mut out, stopped) = (printed.clone(), stop.clone().cancelled_owned());
        let watching = tokio::spawn(async move { informer::watch(&factory, &mut out, stopped).await });
        Informer { printed, stop, watching }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.watching.await.expect("no panic").expect("no error");
    }
}

#[test]
fn informer_prints_existing_pods_and_every_change() {
    run(async {
        let cluster = cluster().await;
        create(&cluster, "early").await;
        let informer = Informer::start(cluster.operator_client(), &cluster.namespace);
        informer.printed.shows("Sync/Add/Update for Pod early", 1).await;
        create(&cluster, "late").await;
        informer.printed.shows("Sync/Add/Update for Pod late", 1).await;
        let before = informer.printed.text().matches("Pod early").count();
        change(&cluster, "early", "changed").await;
        informer.printed.shows("Sync/Add/Update for Pod early", before + 1).await;
        delete(&cluster, "late").await;
        informer.printed.shows("Pod late does not exist anymore", 1).await;
        cluster.role_is_minimal(&["list pods"]).await;
        informer.stop().await;
        cluster.stop().await;
    });
}

#[test]
fn cache_has_only_pods_of_the_node_without_unread_fields() {
    const NODE: &str = "podwatch-node";
    run(async {
        let cluster = cluster().await;
        create(&cluster, "elsewhere").await;
        create_on(&cluster, "here", Some(NODE)).await;
        let stored = pods(&cluster).get("here").await.expect("a pod");
        assert!(stored.spec.is_some());

        let factory =
            informer::factory(&Clientset::new(cluster.operator_client()), &cluster.namespace, Some(NODE));
        let cached = factory.core().v1().pods().lister();
        let informer = Informer::with(factory);
        informer.printed.shows("Sync/Add/Update for Pod here", 1).await;
        assert!(!informer.printed.text().contains("elsewhere"), "{}", informer.printed.text());
        let all = cached.list(&Selector::everything());
        assert_eq!(all.len(), 1);
        assert_eq!((&all[0].metadata.uid, &all[0].spec), (&stored.metadata.uid, &None));
        informer.stop().await;
        cluster.stop().await;
    });
}

#[test]
fn failing_key_is_dropped_after_five_retries_until_the_pod_changes() {
    run(async {
        let cluster = cluster().await;
        let log = Printed::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
        let _logged = tracing::subscriber::set_default(subscriber.finish());
        let informer = Informer::start(cluster.operator_client(), &cluster.namespace);
        informer.printed.refuse(Some("bad"));
        create(&cluster, "bad").await;
        eventually("it is dropped", async || {
            log.text().contains("dropping it out of the queue").then_some(())
        })
        .await;
        // A cluster changes pods by itself: each change adds the key anew, and nothing else does.
        let tries = informer.printed.refusals();
        assert!(tries > RETRIES, "{tries}");
        create(&cluster, "good").await;
        informer.printed.shows("Sync/Add/Update for Pod good", 1).await;
        if cluster.env.backend() == kubesmith_testenv::Backend::Embedded {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            assert_eq!(informer.printed.refusals(), 1 + RETRIES);
            assert_eq!(log.text().matches("trying again").count(), RETRIES);
            // A change resets the retries.
            change(&cluster, "bad", "again").await;
            tokio::time::sleep(Duration::from_secs(3600)).await;
            assert_eq!(informer.printed.refusals(), 2 * (1 + RETRIES));
        }
        informer.printed.refuse(None);
        change(&cluster, "bad", "changed").await;
        informer.printed.shows("Sync/Add/Update for Pod bad", 1).await;
        informer.stop().await;
        cluster.stop().await;
    });
}

#[test]
fn deletion_found_by_a_relist_is_printed() {
    run(async {
        let cluster = cluster().await;
        create(&cluster, "web").await;
        let watch = |fault, n| Rule::new(fault).verb(Verb::Watch).resource("pods").nth(n);
        // The first watch ends after two events, the second one sends none, the third one requires a new list.
        let schedule = Schedule::new()
            .rule(watch(Fault::EndWatch(2), 1))
            .rule(watch(Fault::SilenceWatch(Some(Duration::from_secs(2))), 2))
            .rule(watch(Fault::ExpireWatch(0), 3));
        let proxy = cluster.env.fault_proxy(schedule).await.expect("a proxy");
        let informer = Informer::start(proxy.client(), &cluster.namespace);
        informer.printed.shows("Sync/Add/Update for Pod web", 1).await;
        eventually("the watch is silent", async || (proxy.injections().len() >= 2).then_some(())).await;
        delete(&cluster, "web").await;
        informer.printed.shows("Pod web does not exist anymore", 1).await;
        assert_eq!(proxy.injections().len(), 3, "{}", proxy.report());
        informer.stop().await;
        proxy.stop().await;
        cluster.stop().await;
    });
}
