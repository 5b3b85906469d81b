//! The server calls the webhooks of services on this host when asked.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use http::Method;
use kubesmith_testenv::{Backend, Error, TestEnv};
use serde_json::json;

use super::admission::{MAPS, map, rules};
use super::server::HookServer;
use crate::support::call;

const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

#[tokio::test]
async fn webhook_of_a_service_is_called_on_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("certificates");
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let builder = || TestEnv::builder().backend(Backend::Embedded).webhooks_on_host(address, &folder);
    let env = builder().start().await.unwrap();
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    // As kubectl installs it: the service does not exist, and the configuration has no CA.
    let service = json!({"namespace": "shop-system", "name": "shop-webhook-service", "path": "/validate"});
    let hook = json!({"name": "a.example.com", "clientConfig": {"service": service}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": rules(&["CREATE"], &["configmaps"])});
    let configuration = json!({"metadata": {"name": "shop"}, "webhooks": [hook]});
    assert_eq!(call(&env, Method::POST, CONFIGURATIONS, configuration).await.0, 201);
    let (code, body) = call(&env, Method::POST, MAPS, map("a")).await;
    assert_eq!(code, 201, "{body}");
    assert_eq!(server.calls()[0].0, "/validate");

    builder().start().await.expect("the files are its own");
    fs::write(folder.join("tls.crt"), "mine").unwrap();
    let error = builder().start().await.unwrap_err();
    assert!(matches!(error, Error::ServingCertificates(_)), "{error}");
    assert_eq!(fs::read_to_string(folder.join("tls.crt")).unwrap(), "mine");
}
