//! Replicas, API servers and users over simulated days.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use futures::FutureExt as _;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::pair::authorities;
use super::*;

const HOST: &str = "hooks.default.svc";
const START: i64 = 1_800_000_000;
/// Between two looks of a replica.
const STEP: i64 = 20 * 60;
const VALIDITY: u64 = 8 * 3600;

/// A cluster with a time of its own, and what its API servers trust.
struct World {
    env: TestEnv,
    now: Arc<AtomicI64>,
}

impl World {
    async fn new() -> Self {
        let world =
            World { env: TestEnv::builder().start().await.unwrap(), now: Arc::new(AtomicI64::new(START)) };
        let service = json!({"service": {"namespace": "default", "name": "hooks", "path": "/a"}});
        let hook = |name: &str, config: &Value| json!({"name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig": config});
        let other = json!({"url": "https://elsewhere.example.com/"});
        for (kind, name) in [("ValidatingWebhookConfiguration", "v"), ("MutatingWebhookConfiguration", "m")] {
            let webhooks = [hook("a.example.com", &service), hook("b.example.com", &other)];
            world
                .apply(json!({
                    "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
                    "metadata": {"name": name}, "webhooks": webhooks,
                }))
                .await;
        }
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let version = |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": schema});
        world.apply(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                "versions": [version("v1", true), version("v2", false)],
                "conversion": {"strategy": "Webhook", "webhook": {
                    "conversionReviewVersions": ["v1"], "clientConfig": service}},
            },
        }))
        .await;
        world
    }

    async fn apply(&self, object: Value) {
        let target = targets()
            .into_iter()
            .find(|target| target.to_string().ends_with(object["metadata"]["name"].as_str().unwrap()))
            .unwrap();
        let params = PatchParams::apply("user");
        let name = object["metadata"]["name"].as_str().unwrap();
        target.api(&self.env.client()).patch(name, &params, &Patch::Apply(&object)).await.unwrap();
    }

    fn secrets(&self) -> Api<Secret> {
        Api::default_namespaced(self.env.client())
    }

    async fn secret(&self) -> BTreeMap<String, ByteString> {
        self.secrets().get("certs").await.unwrap().data.unwrap_or_default()
    }

    async fn write_secret(&self, data: &Value) {
        let patch = Patch::Merge(json!({"data": data}));
        self.secrets().patch("certs", &PatchParams::default(), &patch).await.unwrap();
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.now.load(Ordering::Relaxed)).unwrap()
    }

    fn pass(&self, seconds: i64) {
        self.now.fetch_add(seconds, Ordering::Relaxed);
    }

    fn replica(&self) -> CertRotator {
        self.replica_for(&[])
    }

    /// A replica whose certificate has further names.
    fn replica_for(&self, names: &[&str]) -> CertRotator {
        let now = self.now.clone();
        let rotator = CertRotator::builder(self.env.client(), "default", "certs")
            .service("hooks")
            .validity(Duration::from_secs(VALIDITY))
            .clock(move || Timestamp::from_second(now.load(Ordering::Relaxed)).unwrap());
        let rotator = names.iter().fold(rotator, |rotator, name| rotator.dns_name(*name));
        targets().into_iter().fold(rotator, CertRotatorBuilder::inject_into).build()
    }

    /// The authorities that API servers trust for each target.
    async fn bundles(&self) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        for target in targets() {
            let object = target.get(&self.env.client()).await.unwrap().unwrap().data;
            let config = match target {
                CaBundleTarget::CustomResourceDefinition(_) => {
                    object["spec"]["conversion"]["webhook"].clone()
                }
                _ => object["webhooks"][0].clone(),
            };
            let bundle = config["clientConfig"]["caBundle"].clone();
            let bundle: ByteString = serde_json::from_value(bundle).unwrap_or_default();
            out.push(authorities(&String::from_utf8(bundle.0).unwrap(), self.now()));
        }
        out
    }
}

fn targets() -> Vec<CaBundleTarget> {
    [
        "validatingwebhookconfigurations/v",
        "mutatingwebhookconfigurations/m",
        "customresourcedefinitions/things.example.com",
    ]
    .map(|text| text.parse().unwrap())
    .into()
}

/// Runs a tick to its end, or kills it at some point.
async fn tick_or_die(replica: &CertRotator, polls: Option<usize>) -> bool {
    let mut tick = Box::pin(replica.tick());
    let mut left = polls;
    let ended = std::future::poll_fn(|context| {
        if left == Some(0) {
            return std::task::Poll::Ready(false);
        }
        left = left.map(|left| left - 1);
        tick.poll_unpin(context).map(|result| {
            result.unwrap();
            true
        })
    });
    ended.await
}

/// Each API server with one of these configurations trusts the replica.
fn assert_trusted(seed: u64, replica: &CertRotator, bundles: &[Vec<String>], now: Timestamp) {
    let served = replica.served().unwrap();
    for bundle in bundles {
        let checked = served.pair.check(bundle, HOST, now);
        assert!(checked.is_ok(), "seed {seed}: {checked:?}");
    }
}

/// Certificates rotate three times in 90 steps, while replicas die and users destroy what is stored.
async fn every_replica_is_trusted(seed: u64) {
    let (world, mut rng) = (World::new().await, Rng::with_seed(seed));
    let mut replicas: Vec<CertRotator> = (0..3).map(|_| world.replica()).collect();
    for replica in &replicas {
        replica.obtain().await.unwrap();
    }
    let mut seen = Vec::new();
    let mut before = world.bundles().await;
    for _ in 0..90 {
        world.pass(STEP);
        match rng.u8(..30) {
            0 => drop(world.secrets().delete("certs", &DeleteParams::default()).await),
            1 => world.write_secret(&json!({"tls.crt": "YQ=="})).await,
            2 => world.write_secret(&json!({"next-tls.key": "YQ==", "ca.crt": ""})).await,
            _ => {}
        }
        let mut order = [0, 1, 2];
        rng.shuffle(&mut order);
        let mut is_new = [false; 3];
        for number in order {
            let polls = (rng.u8(..8) == 0).then(|| rng.usize(..12));
            if !tick_or_die(&replicas[number], polls).await {
                replicas[number] = world.replica();
                replicas[number].obtain().await.unwrap();
                is_new[number] = true;
            }
            let after = world.bundles().await;
            for (replica, is_new) in replicas.iter().zip(is_new) {
                // If a user destroyed what was served, a new replica has nothing that servers knew before.
                let known = if is_new { &[][..] } else { &before };
                assert_trusted(seed, replica, &[known, &after].concat(), world.now());
            }
            if number == order[2] {
                before = after;
            }
        }
        let current = world.secret().await.remove("tls.crt");
        if seen.last() != Some(&current) {
            seen.push(current);
        }
    }
    assert!(seen.len() > 4, "{} certificates", seen.len());
    // Nothing is left behind.
    assert!(
        before.iter().all(|bundle| bundle.len() <= 8),
        "{:?}",
        before.iter().map(Vec::len).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn every_replica_is_trusted_while_certificates_rotate_and_replicas_die() {
    every_replica_is_trusted(0).await;
}

#[tokio::test]
async fn every_replica_is_trusted_while_replicas_die_in_another_order() {
    every_replica_is_trusted(1).await;
}

#[tokio::test]
async fn every_replica_is_trusted_while_replicas_die_in_a_third_order() {
    every_replica_is_trusted(2).await;
}

#[tokio::test]
async fn webhooks_and_fields_of_others_are_kept_on_authority_write() {
    let world = World::new().await;
    let replica = world.replica();
    replica.tick().await.unwrap();
    let target = &targets()[0];
    let object = target.get(&world.env.client()).await.unwrap().unwrap();
    assert!(object.data["webhooks"][0]["clientConfig"]["caBundle"].is_string());
    assert_eq!(object.data["webhooks"][1]["clientConfig"], json!({"url": "https://elsewhere.example.com/"}));
    let fields = object.metadata.managed_fields.unwrap();
    let ours = fields.iter().find(|entry| entry.manager.as_deref() == Some(FIELD_MANAGER)).unwrap();
    let only_bundle = json!({"f:webhooks": {"k:{\"name\":\"a.example.com\"}": {
        ".": {}, "f:name": {}, "f:clientConfig": {"f:caBundle": {}}}}});
    assert_eq!(serde_json::to_value(&ours.fields_v1).unwrap(), only_bundle);
    // A second look writes nothing.
    let version = object.metadata.resource_version;
    replica.tick().await.unwrap();
    let again = target.get(&world.env.client()).await.unwrap().unwrap();
    assert_eq!(again.metadata.resource_version, version);
}

#[tokio::test]
async fn target_that_is_missing_or_leads_elsewhere_is_reported_until_it_is_mended() {
    let world = World::new().await;
    let other: CaBundleTarget = "validatingwebhookconfigurations/nope".parse().unwrap();
    let of = |service: &str| {
        let rotator = CertRotator::builder(world.env.client(), "default", service).service(service);
        rotator.inject_into(targets()[2].clone()).inject_into(other.clone()).build()
    };
    let reasons = |replica: &CertRotator| replica.0.unwritten.lock().unwrap().clone();
    let foreign = of("others");
    foreign.tick().await.unwrap();
    let expected = BTreeMap::from([
        (other.clone(), "there is no such object".to_owned()),
        (targets()[2].clone(), "it has no clientConfig with the Service default/others".to_owned()),
    ]);
    assert_eq!(reasons(&foreign), expected);
    let replica = of("hooks");
    replica.tick().await.unwrap();
    assert_eq!(reasons(&replica).into_keys().collect::<Vec<_>>(), std::slice::from_ref(&other));
    let object = targets()[0].get(&world.env.client()).await.unwrap().unwrap().data;
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "nope"}, "webhooks": object["webhooks"],
    });
    let params = PatchParams::apply("user");
    other.api(&world.env.client()).patch("nope", &params, &Patch::Apply(&configuration)).await.unwrap();
    replica.tick().await.unwrap();
    assert!(reasons(&replica).is_empty());
}

#[tokio::test]
async fn new_certificate_waits_until_its_authority_is_everywhere() {
    let world = World::new().await;
    let replica = world.replica();
    replica.tick().await.unwrap();
    let first = replica.served().unwrap().pair;
    world.pass(6 * 3600);
    replica.tick().await.unwrap();
    assert!(world.secret().await.contains_key("next-tls.crt"));
    assert!(replica.served().unwrap().pair == first, "the old one is served");
    // API servers may take a minute.
    world.pass(59);
    replica.tick().await.unwrap();
    assert!(replica.served().unwrap().pair == first);
    world.pass(1);
    replica.tick().await.unwrap();
    assert!(replica.served().unwrap().pair != first);
    assert!(!world.secret().await.contains_key("next-tls.crt"));
    assert_eq!(world.bundles().await.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2]);
    // The old authority goes when its certificate has expired.
    world.pass(3 * 3600);
    replica.tick().await.unwrap();
    replica.tick().await.unwrap();
    assert_eq!(world.bundles().await.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
}

#[tokio::test]
async fn expired_certificate_is_replaced_when_the_program_starts() {
    let world = World::new().await;
    world.replica().tick().await.unwrap();
    world.pass(i64::try_from(VALIDITY).unwrap() + 1);
    let late = world.replica();
    late.obtain().await.unwrap();
    let served = late.served().unwrap();
    assert!(served.pair.check(&served.authorities, HOST, world.now()).is_ok());
    late.tick().await.unwrap();
    for bundle in world.bundles().await {
        assert!(served.pair.check(&bundle, HOST, world.now()).is_ok());
    }
}

#[tokio::test]
async fn foreign_secret_is_refused_and_unchanged() {
    let world = World::new().await;
    world.replica().obtain().await.unwrap();
    world.write_secret(&json!({"password": "YQ=="})).await;
    let before = world.secret().await;
    let error = world.replica().obtain().await.unwrap_err().to_string();
    assert!(error.contains("default/certs") && error.contains("\"password\""), "{error}");
    assert_eq!(world.secret().await, before);

    world.write_secret(&json!({"password": null})).await;
    let annotation =
        json!({"metadata": {"annotations": {"cert-manager.io/certificate-name": "serving-cert"}}});
    world.secrets().patch("certs", &PatchParams::default(), &Patch::Merge(annotation)).await.unwrap();
    let error = world.replica().obtain().await.unwrap_err().to_string();
    assert!(error.contains("cert-manager") && error.contains("serving-cert"), "{error}");
}

#[tokio::test]
async fn pair_of_another_writer_is_refused_and_unchanged() {
    let world = World::new().await;
    let pair = BTreeMap::from(["tls.crt", "tls.key"].map(|key| (key.to_owned(), ByteString(b"x".to_vec()))));
    let mut secret = Secret { data: Some(pair.clone()), ..Secret::default() };
    secret.metadata.name = Some("certs".to_owned());
    world.secrets().create(&PostParams::default(), &secret).await.unwrap();
    let error = world.replica().obtain().await.unwrap_err().to_string();
    assert!(error.contains("\"tls.crt\"") && error.contains("no rotator wrote"), "{error}");
    assert_eq!(world.secret().await, pair);
}

#[tokio::test]
async fn certificate_without_valid_dns_name_is_not_written() {
    let world = World::new().await;
    let rotator = |builder: CertRotatorBuilder| builder.build();
    let builder = || CertRotator::builder(world.env.client(), "default", "certs");
    for rotator in [rotator(builder()), rotator(builder().dns_name("*.example.com"))] {
        let error = rotator.obtain().await.unwrap_err().to_string();
        assert!(error.contains("without wildcards"), "{error}");
        assert!(world.secrets().get_opt("certs").await.unwrap().is_none());
    }
}

#[tokio::test]
async fn new_certificate_is_not_renewed_at_once_when_it_is_renewed_early() {
    let world = World::new().await;
    let day = Duration::from_secs(24 * 3600);
    let now = Arc::clone(&world.now);
    let clock = move || Timestamp::from_second(now.load(Ordering::Relaxed)).unwrap();
    let builder = CertRotator::builder(world.env.client(), "default", "certs").dns_name(HOST);
    let rotator = builder.validity(day).renew_before(2 * day).clock(clock).build();
    rotator.obtain().await.unwrap();
    let first = world.secret().await;
    world.pass(3600);
    rotator.tick().await.unwrap();
    assert_eq!(world.secret().await, first);
}

#[tokio::test]
async fn certificate_of_another_authority_is_served_only_once_it_is_trusted() {
    let world = World::new().await;
    let replica = world.replica();
    replica.tick().await.unwrap();
    let first = replica.served().unwrap().pair;
    let names = [HOST.to_owned(), format!("{HOST}.cluster.local")];
    let foreign = pair::issue(&names, world.now(), Duration::from_secs(VALIDITY)).unwrap();
    let text = |text: &str| serde_json::to_value(ByteString(text.as_bytes().to_vec())).unwrap();
    world
        .write_secret(&json!({
            "tls.crt": text(&foreign.pair.certificate), "tls.key": text(&foreign.pair.key), "ca.crt": text(&foreign.authority),
        }))
        .await;
    replica.tick().await.unwrap();
    assert!(replica.served().unwrap().pair == first, "nobody trusts the new one yet");
    assert_eq!(world.bundles().await.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2]);
    world.pass(60);
    replica.tick().await.unwrap();
    assert!(replica.served().unwrap().pair == foreign.pair);
}

#[tokio::test]
async fn certificate_with_a_further_name_is_issued_once_and_served_when_it_is_trusted() {
    let world = World::new().await;
    let old = world.replica();
    old.tick().await.unwrap();
    let first = old.served().unwrap().pair;
    let metrics = "metrics.default.svc";
    let new = world.replica_for(&[metrics, "*.example.com"]);
    new.obtain().await.unwrap();
    assert!(new.served().unwrap().pair == first, "API servers trust only the old one");
    let mut seen = vec![world.secret().await.remove("tls.crt")];
    for _ in 0..10 {
        world.pass(60);
        for replica in [&old, &new] {
            replica.tick().await.unwrap();
        }
        assert_trusted(0, &new, &world.bundles().await, world.now());
        let current = world.secret().await.remove("tls.crt");
        if seen.last() != Some(&current) {
            seen.push(current);
        }
    }
    assert_eq!(seen.len(), 2, "issued once");
    for replica in [&old, &new] {
        let served = replica.served().unwrap();
        assert!(served.pair.check(&served.authorities, metrics, world.now()).is_ok());
    }
}
