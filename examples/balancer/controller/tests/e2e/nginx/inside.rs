//! What runs in the namespaces.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use balancer_api::v1alpha1::BackendSpec;
use balancer_controller::nginx::configuration;
use balancer_controller::plan::Plan;
use kubesmith_runtime::kube::api::DeleteParams;
use kubesmith_testenv::{Backend, TestEnv};
use operator_testing::{Cluster, eventually};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner, contextualize_config};
use serde_json::json;

use super::server::{Network, Nginx, answers};
use crate::support::{CRDS, Operator, sample};

const REQUESTS: usize = 2_000;

/// How far shares may be from their weights by chance once in a thousand runs: the chi-square distribution's values at
/// 0.1 %, by the degrees of freedom.
const CRITICAL: [f64; 4] = [0.0, 10.828, 13.816, 16.266];

fn address(number: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, number)
}

/// Checks 2,000 answers against the weights.
async fn assert_shares(weights: &[(&str, f64)]) {
    let counts = answers(REQUESTS).await;
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let distance = |(name, weight): &(&str, f64)| {
        let expected = REQUESTS as f64 * weight / total;
        let seen = counts.get(*name).copied().unwrap_or_default() as f64;
        (seen - expected).powi(2) / expected
    };
    let chi_square: f64 = weights.iter().map(distance).sum();
    println!("{REQUESTS} requests: {counts:?}, chi-square {chi_square:.3}");
    assert_eq!(counts.keys().collect::<Vec<_>>(), weights.iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert!(chi_square <= CRITICAL[weights.len() - 1], "{counts:?} are not {weights:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs in namespaces, which nginx::nginx_accepts_the_configuration_and_shares_traffic makes"]
async fn traffic_follows_the_weights() {
    let mut network = Network::new();
    network.serve(&[(address(1), "v1"), (address(2), "v2"), (address(3), "v3")]).await;
    // In a network of its own there is no other server than the one in this process.
    let env = TestEnv::builder().backend(Backend::Embedded).crd_paths([CRDS]);
    let env = env.controllers(true).simulated_node(true).start().await.expect("the server starts");
    let operator = Operator::on(Cluster::on(env).await);
    let namespace = &operator.namespace();
    operator.create(&sample()).await;
    operator.ready(namespace, "balancer-sample", Some(1)).await;

    let nginx = start(&network, &operator).await;
    assert_shares(&[("v1", 40.0), ("v2", 20.0), ("v3", 40.0)]).await;
    drop(nginx);

    let mut backends = sample().spec.backends;
    backends[0].weight = 10;
    backends[1].weight = 70;
    backends[2].weight = 20;
    operator.change("balancer-sample", json!({ "backends": backends })).await;
    let nginx = start(&network, &operator).await;
    assert_shares(&[("v1", 10.0), ("v2", 70.0), ("v3", 20.0)]).await;
    drop(nginx);

    backends.remove(1);
    let balancer = operator.change("balancer-sample", json!({ "backends": backends })).await;
    assert_eq!((balancer.status.active_backends_num, balancer.status.obsolete_backends_num), (2, 0));
    let nginx = start(&network, &operator).await;
    assert_shares(&[("v1", 10.0), ("v3", 20.0)]).await;
    drop(nginx);

    operator.balancers(namespace).delete("balancer-sample", &DeleteParams::default()).await.expect("deleted");
    eventually("no children", async || operator.children(namespace).await.is_empty().then_some(())).await;
    operator.stop().await;
}

/// nginx with what the ConfigMap has now, where the backends' Services, and no other, have names.
async fn start(network: &Network, operator: &Operator) -> Nginx {
    let namespace = &operator.namespace();
    let services = operator.backends(namespace, "balancer-sample").await;
    let names = [1, 2, 3].map(|number| (format!("balancer-sample-v{number}-backend"), address(number)));
    let known = names.iter().filter(|(name, _)| services.contains(name));
    network.names(known.map(|(name, address)| (name.as_str(), *address)));
    let configuration = operator.configuration(namespace, "balancer-sample").await;
    network.check(&configuration).unwrap_or_else(|error| panic!("{error}\n{configuration}"));
    network.start(&configuration).await
}

/// Names that are accepted, and among them nginx's own words.
fn name() -> impl Strategy<Value = String> {
    let words = [
        "server", "upstream", "listen", "include", "events", "stream", "weight", "down", "backup", "unix",
        "0",
    ];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[a-z0-9-]{1,20}", ".{0,8}"]
}

#[test]
#[ignore = "runs in namespaces, which nginx::nginx_accepts_the_configuration_and_shares_traffic makes"]
fn nginx_accepts_every_configuration_that_the_operator_accepts() {
    let network = Network::new();
    let texts = (name(), name(), prop::collection::vec((name(), 1..=i32::MAX), 1..5), 1..=65535);
    let config = contextualize_config(Config { failure_persistence: None, ..Config::with_cases(64) });
    // Most names are refused.
    let mut runner = TestRunner::new(Config { max_global_rejects: config.cases * 1_500, ..config });
    let result = runner.run(&texts, |(name, port, backends, number)| {
        let mut balancer = sample();
        balancer.metadata.name = Some(name);
        balancer.spec.ports[0].name = port;
        balancer.spec.ports[0].port.0 = number;
        let backend = |(name, weight)| BackendSpec { name, weight, selector: BTreeMap::new() };
        balancer.spec.backends = backends.into_iter().map(backend).collect();
        let plan = Plan::new(&balancer).map_err(|refusal| TestCaseError::reject(refusal.to_string()))?;
        network.names(plan.backends.iter().map(|backend| (backend.service.as_str(), address(1))));
        network.check(&configuration(&plan)).map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
