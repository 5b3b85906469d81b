//! Certificates that change while requests run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::webhook::{AdmissionResponse, admission_fn};
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::api_server::client_config;
use super::support::{Authority, Client, Pair, Running, write};

const PATIENCE: Duration = Duration::from_secs(30);

/// Writes a pair as the kubelet does: into a folder of its own, then a link is swapped.
fn swap(folder: &Path, name: &str, pair: &Pair) {
    std::fs::create_dir(folder.join(name)).unwrap();
    write(&folder.join(name), pair);
    std::os::unix::fs::symlink(name, folder.join("..new")).unwrap();
    std::fs::rename(folder.join("..new"), folder.join("..data")).unwrap();
}

/// A server whose certificate is read every few milliseconds from such a folder.
async fn start(authority: Authority, registry: &Registry) -> Running {
    let folder = TempDir::new().unwrap();
    swap(folder.path(), "..1", &authority.pair());
    let allowing = admission_fn(|_| async {
        sleep(Duration::from_millis(2)).await;
        AdmissionResponse::allowed()
    });
    let server = kubesmith_runtime::webhook::Server::builder()
        .cert_dir(folder.path().join("..data"))
        .address("127.0.0.1".parse().unwrap())
        .port(0)
        .metrics(registry)
        .certificates(|watcher| watcher.interval(Duration::from_millis(10)))
        .admission("/a", allowing);
    let server = server.build().unwrap().bind().await.unwrap();
    Running::run(server, authority, folder)
}

async fn lead_to(env: &TestEnv, running: &Running, ca: &str) {
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(env.client());
    let hook = json!({
        "name": "maps.hooks.example", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail", "clientConfig": client_config(running.address, "/a", ca),
        "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    });
    let configuration = json!({"metadata": {"name": "maps"}, "webhooks": [hook]});
    let configuration = serde_json::from_value(configuration).unwrap();
    configurations.create(&PostParams::default(), &configuration).await.unwrap();
}

async fn trust(env: &TestEnv, ca: &str) {
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(env.client());
    let path = "/webhooks/0/clientConfig/caBundle";
    let patch = json!([{"op": "replace", "path": path, "value": STANDARD.encode(ca)}]);
    let patch = Patch::Json::<()>(serde_json::from_value(patch).unwrap());
    configurations.patch("maps", &PatchParams::default(), &patch).await.unwrap();
}

/// Waits until a client that trusts only this CA is served.
async fn presents(running: &Running, authority: &Authority) {
    let presented = async {
        while Client::new(&authority.pem).connect(running.address).await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, presented).await.expect("the new certificate is served");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_continue_while_authority_and_certificate_change() {
    let env = TestEnv::builder().start().await.unwrap();
    let (registry, next) = (Registry::new(), Authority::new("next"));
    let running = start(Authority::new("first"), &registry).await;
    lead_to(&env, &running, &running.authority.pem).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(env.client());
    let (over, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let writing = {
        let (over, written) = (over.clone(), written.clone());
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let name = format!("m{}", written.fetch_add(1, Ordering::Relaxed));
                let metadata = ObjectMeta { name: Some(name), ..ObjectMeta::default() };
                let map = ConfigMap { metadata, ..ConfigMap::default() };
                maps.create(&PostParams::default(), &map).await.expect("no write fails");
            }
        })
    };
    let some_writes = async || {
        let enough = written.load(Ordering::Relaxed) + 20;
        while written.load(Ordering::Relaxed) < enough {
            assert!(!writing.is_finished());
            sleep(Duration::from_millis(1)).await;
        }
    };
    some_writes().await;
    // As in clusters: trust both CAs, change the certificate, then trust only the new CA.
    trust(&env, &format!("{}{}", running.authority.pem, next.pem)).await;
    some_writes().await;
    let folder = running.folder.path();
    let broken = Pair { key: next.pair().key, ..running.authority.pair() };
    swap(folder, "..2", &broken);
    let errors = async {
        while registry.encode().contains("certwatcher_read_certificate_errors_total 0\n") {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, errors).await.expect("a pair that does not match is noticed");
    some_writes().await;
    swap(folder, "..3", &next.pair());
    presents(&running, &next).await;
    some_writes().await;
    trust(&env, &next.pem).await;
    some_writes().await;
    over.store(true, Ordering::Relaxed);
    writing.await.unwrap();
    assert!(Client::new(&running.authority.pem).connect(running.address).await.is_err());
    env.stop().await;
    running.stop().await;
}
