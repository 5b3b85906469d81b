//! The webhook server of a manager.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_runtime::webhook::{AdmissionResponse, admission_fn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::support::{Authority, Client, exchange, review, served};
use crate::fake::FakeServer;
use crate::scripted::{Asked, client, failure};

const PATIENCE: Duration = Duration::from_secs(30);

fn free_port() -> u16 {
    kubesmith_testenv::free_address().unwrap().port()
}

async fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn webhooks_are_served_before_caches_fill_and_until_they_have_stopped() {
    let mut server = FakeServer::new();
    let (health, metrics) = (free_port(), free_port());
    let loopback = |port| ([127, 0, 0, 1], port).into();
    let mut manager = Manager::builder(server.client())
        .health_address(loopback(health))
        .metrics_address(loopback(metrics))
        .build();
    let maps = manager.factory().informer_for::<ConfigMap>();
    let authority = Authority::new("webhooks");
    let (_folder, builder) = served(&authority);
    let port = free_port();
    let stopped = maps.clone();
    // Answers at once before the stop, and waits for the end of the caches after it.
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let handler = admission_fn(move |ctx: kubesmith_runtime::webhook::AdmissionContext| {
        let (maps, stopping) = (stopped.clone(), stopping.clone());
        async move {
            if ctx.request().name == "last" {
                stopping.cancel();
                while !maps.is_stopped() {
                    sleep(Duration::from_millis(1)).await;
                }
            }
            AdmissionResponse::allowed()
        }
    });
    manager.add_webhooks(builder.port(port).admission("/a", handler).build().unwrap());
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    // The informer has sent its request and has no response.
    let call = server.call().await;
    assert!(!maps.has_synced());
    let connect = async || Client::new(&authority.pem).connect(loopback(port)).await.unwrap();
    assert_eq!(exchange(&mut connect().await, "/a", &review("m")).await.0, 200);
    assert!(get(health, "/readyz/webhook-server").await.starts_with("HTTP/1.1 200"));
    let counted = get(metrics, "/metrics").await;
    let line = "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a\"} 1\n";
    assert!(counted.contains(line), "{counted}");
    drop(call);
    let (code, _) = timeout(PATIENCE, exchange(&mut connect().await, "/a", &review("last"))).await.unwrap();
    assert_eq!(code, 200, "answered after the caches had stopped");
    timeout(PATIENCE, run).await.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}

#[tokio::test]
async fn webhooks_that_cannot_be_served_end_the_manager() {
    let (client, _) = client(|_: &Asked| failure(500, "Unexpected"));
    let mut manager = Manager::builder(client).build();
    let taken = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let authority = Authority::new("webhooks");
    let (_folder, builder) = served(&authority);
    manager.add_webhooks(builder.port(taken.local_addr().unwrap().port()).build().unwrap());
    let error = manager.run(std::future::pending()).await.unwrap_err();
    assert!(matches!(error, ManagerError::Webhooks(_)), "{error}");
    assert!(error.to_string().starts_with("cannot serve webhooks on "), "{error}");
}
