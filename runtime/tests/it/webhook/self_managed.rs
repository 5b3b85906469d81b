//! A server that makes its own certificate, called by an API server while certificate and authority change.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{Api, ObjectMeta, PostParams};
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_runtime::webhook::{AdmissionResponse, CaBundleTarget, CertRotator, Server, admission_fn};
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::field::Field;
use tracing::instrument::WithSubscriber;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

use super::support::{Authority, Client};

const PATIENCE: Duration = Duration::from_secs(60);
const PROPAGATION: Duration = Duration::from_millis(20);
/// The step by which the test moves the rotator's clock. A new certificate is served two steps after its authority is in force,
/// so that writes which began before have ended by then.
const STEP: Duration = Duration::from_millis(10);
const TARGET: &str = "validatingwebhookconfigurations/maps";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_fails_while_the_server_renews_its_certificate() {
    let env = TestEnv::builder().start().await.unwrap();
    let ahead = Arc::new(AtomicI64::new(0));
    let allowing = admission_fn(|_| async { AdmissionResponse::allowed() });
    let server = Server::builder()
        .cert_rotator(rotator(&env, &ahead))
        .address("127.0.0.1".parse().unwrap())
        .port(0)
        .admission("/a", allowing);
    let server = server.build().unwrap().bind().await.unwrap();
    let (address, certificates) = (server.local_addr(), server.certificates().clone());
    let configurations = configured(&env, address).await;
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server.run(stop.clone()));
    let has_bundle = async {
        while authorities(&configurations).await.is_empty() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(PATIENCE, has_bundle).await.expect("the authority is written");

    let maps: Api<ConfigMap> = Api::default_namespaced(env.client());
    in_force(&maps).await;
    let (over, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let writing = {
        let (over, written) = (over.clone(), written.clone());
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let name = format!("m{}", written.fetch_add(1, Ordering::Relaxed));
                let map = ConfigMap { metadata: named(name), ..ConfigMap::default() };
                maps.create(&PostParams::default(), &map).await.expect("no write fails");
            }
        })
    };
    // Of the writes that are counted from now on, the first may have begun before.
    let more_writes = || async {
        let enough = written.load(Ordering::Relaxed) + 10;
        while written.load(Ordering::Relaxed) < enough {
            assert!(!writing.is_finished());
            sleep(Duration::from_millis(1)).await;
        }
    };
    let mut trusted = authorities(&configurations).await;
    for _ in 0..2 {
        let before = certificates.expires_at();
        ahead.fetch_add(25 * 60 * 1000, Ordering::Relaxed);
        let announced = async {
            // The authority of the round before is removed by a write of its own, which announces nothing.
            while authorities(&configurations).await.is_subset(&trusted) {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(PATIENCE, announced).await.expect("the new authority is written");
        trusted = authorities(&configurations).await;
        timeout(PATIENCE, more_writes()).await.expect("writes go on with both authorities");
        let renewed = async {
            while certificates.expires_at() == before {
                ahead.fetch_add(STEP.as_millis() as i64, Ordering::Relaxed);
                more_writes().await;
            }
        };
        timeout(PATIENCE, renewed).await.expect("a new certificate is served");
        timeout(PATIENCE, more_writes()).await.expect("writes go on with the new certificate");
    }
    over.store(true, Ordering::Relaxed);
    writing.await.unwrap();
    env.stop().await;
    stop.cancel();
    serving.await.unwrap();
}

/// A rotator whose clock is ahead by these milliseconds.
fn rotator(env: &TestEnv, ahead: &Arc<AtomicI64>) -> CertRotator {
    // Only the test moves the rotator's clock, so that a slow machine never cuts the propagation short. Certificates are
    // valid from an hour before they are made, and the API server's clock is the system's.
    let begin = Timestamp::now();
    let moved = ahead.clone();
    CertRotator::builder(env.client(), "default", "certs")
        .dns_name("127.0.0.1")
        .inject_into(TARGET.parse::<CaBundleTarget>().unwrap())
        .validity(Duration::from_secs(3600))
        .renew_before(Duration::from_secs(40 * 60))
        .propagation(PROPAGATION)
        .interval(Duration::from_millis(5))
        .clock(move || begin + SignedDuration::from_millis(moved.load(Ordering::Relaxed)))
        .build()
}

/// Has the API server call the webhook at this address for writes of config maps.
async fn configured(env: &TestEnv, address: SocketAddr) -> Api<ValidatingWebhookConfiguration> {
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(env.client());
    let hook = json!({
        "name": "maps.hooks.example", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail", "clientConfig": {"url": format!("https://{address}/a")},
        "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    });
    let configuration = json!({"metadata": {"name": "maps"}, "webhooks": [hook]});
    let configuration = serde_json::from_value(configuration).unwrap();
    configurations.create(&PostParams::default(), &configuration).await.unwrap();
    configurations
}

/// Waits until the API server calls the webhook with its authority.
async fn in_force(maps: &Api<ConfigMap>) {
    // The API server may call the webhook as before for a moment after the authority can be read.
    let succeeds = async {
        let map = ConfigMap { metadata: named("first".to_owned()), ..ConfigMap::default() };
        while maps.create(&PostParams::default(), &map).await.is_err() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, succeeds).await.expect("the API server uses the authority");
}

fn named(name: String) -> ObjectMeta {
    ObjectMeta { name: Some(name), ..ObjectMeta::default() }
}

/// The authorities that the API server trusts, in PEM.
async fn authorities(configurations: &Api<ValidatingWebhookConfiguration>) -> BTreeSet<String> {
    let configuration = configurations.get("maps").await.unwrap();
    let bundle = configuration.webhooks.unwrap_or_default().remove(0).client_config.ca_bundle;
    let text = String::from_utf8(bundle.unwrap_or_default().0).unwrap();
    let blocks = text.split_inclusive("-----END CERTIFICATE-----").map(|block| block.trim().to_owned());
    blocks.filter(|block| !block.is_empty()).collect()
}

/// Reports the address of the metrics, which a manager logs.
struct MetricsAddress(Mutex<Option<oneshot::Sender<SocketAddr>>>);

impl<S: Subscriber> Layer<S> for MetricsAddress {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (mut is_metrics, mut address) = (false, None);
        event.record(&mut |field: &Field, value: &dyn Debug| match field.name() {
            "what" => is_metrics = format!("{value:?}") == "\"metrics\"",
            "address" => address = format!("{value:?}").trim_matches('"').parse().ok(),
            _ => {}
        });
        if let (true, Some(address), Some(found)) = (is_metrics, address, self.0.lock().unwrap().take()) {
            found.send(address).unwrap();
        }
    }
}

/// Runs a manager whose metrics have port 0, and returns their address.
async fn serving(
    manager: Manager,
    stop: &CancellationToken,
) -> (JoinHandle<Result<(), ManagerError>>, SocketAddr) {
    let (found, address) = oneshot::channel();
    let subscriber = tracing_subscriber::registry().with(MetricsAddress(Mutex::new(Some(found))));
    let run = manager.run(stop.clone().cancelled_owned()).with_subscriber(subscriber);
    let run = tokio::spawn(run);
    let address = timeout(PATIENCE, address).await.expect("the metrics are served").unwrap();
    (run, address)
}

/// Reads the metrics of a manager over TLS, trusting these authorities.
async fn scrape(address: SocketAddr, roots: &str) -> std::io::Result<String> {
    let mut stream = Client::new(roots).connect(address).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_have_the_certificate_of_the_webhooks() {
    let env = TestEnv::builder().start().await.unwrap();
    let rotator = CertRotator::builder(env.client(), "default", "certs").service("hooks");
    let mut manager = Manager::builder(env.client())
        .metrics_address(([127, 0, 0, 1], 0))
        .metrics_own_tls()
        .metrics_authorization()
        .webhook_cert_rotator(rotator.dns_name("127.0.0.1").build())
        .build();
    let allowing = admission_fn(|_| async { AdmissionResponse::allowed() });
    let server = Server::builder().address("127.0.0.1".parse().unwrap()).port(0).admission("/a", allowing);
    manager.add_webhooks(server.build().unwrap());
    let stop = CancellationToken::new();
    let (run, address) = serving(manager, &stop).await;
    let secrets: Api<Secret> = Api::default_namespaced(env.client());
    let scraped = async {
        loop {
            let data = secrets.get_opt("certs").await.unwrap().and_then(|secret| secret.data);
            let authority = data.and_then(|mut data| data.remove("ca.crt"));
            let authority = authority.map(|bytes| String::from_utf8(bytes.0).unwrap());
            if let Ok(answer) = scrape(address, authority.as_deref().unwrap_or_default()).await {
                return answer;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let answer = timeout(PATIENCE, scraped).await.expect("the authority of the Secret is the endpoint's");
    assert!(answer.starts_with("HTTP/1.1 401"), "a request without a token is refused: {answer}");
    stop.cancel();
    run.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_have_a_self_signed_certificate_without_webhooks() {
    let env = TestEnv::builder().start().await.unwrap();
    let rotator = CertRotator::builder(env.client(), "default", "certs").service("hooks").build();
    // The manager serves no webhooks, so the rotator has no certificate.
    let manager = Manager::builder(env.client()).metrics_address(([127, 0, 0, 1], 0)).metrics_own_tls();
    let manager = manager.webhook_cert_rotator(rotator).build();
    let stop = CancellationToken::new();
    let (run, address) = serving(manager, &stop).await;
    let other = Authority::new("another");
    let refused = async {
        loop {
            let error = scrape(address, &other.pem).await.unwrap_err().to_string();
            if error.contains("certificate") {
                return error;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    let error = timeout(PATIENCE, refused).await.expect("the endpoint speaks TLS");
    assert!(error.contains("UnknownIssuer"), "{error}");
    stop.cancel();
    run.await.unwrap().unwrap();
}
