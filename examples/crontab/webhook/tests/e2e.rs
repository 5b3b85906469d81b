//! CronTabs on an API server that asks the webhook: each is read and written in both versions.

use crontab_api::{v1, v1beta1};
use crontab_client::clientset::Clientset;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::kube::api::PostParams;
use kubesmith_testenv::TestEnv;

fn meta(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_read_and_written_in_both_versions() {
    let crds = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
    let env = TestEnv::builder().crd_paths([crds]).start().await.unwrap();
    let serving = env.local_serving().unwrap();
    let address = serving.host().parse().unwrap();
    let server = crontab_webhook::server().address(address).port(serving.port()).cert_dir(serving.cert_dir());
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.build().unwrap().bind().await.unwrap().run(stop.clone()));

    let clients = Clientset::new(env.client());
    let old_tabs = clients.stable_v1beta1().cron_tabs().namespace("default");
    let tabs = clients.stable_v1().cron_tabs().namespace("default");
    let params = PostParams::default();

    // An object of before, with what its schema adds.
    let spec = v1beta1::CronTabSpec {
        schedule: "*/5 4 * * *".to_owned(),
        image: "backup".to_owned(),
        ..v1beta1::CronTabSpec::default()
    };
    old_tabs.create(&v1beta1::CronTab { metadata: meta("nightly"), spec }, &params).await.unwrap();
    let mut tab: v1::CronTab = tabs.get("nightly").await.unwrap();
    assert_eq!(tab.spec.schedule.minute.as_deref(), Some("*/5"));
    assert_eq!((tab.spec.schedule.hour.as_deref(), tab.spec.replicas), (Some("4"), Some(1)));

    // What v1beta1 cannot say goes through it all the same.
    tab.spec.time_zone = Some("Europe/Rome".to_owned());
    tabs.update(&tab, &params).await.unwrap();
    let mut old = old_tabs.get("nightly").await.unwrap();
    old.spec.schedule = "30 4 * * *".to_owned();
    old_tabs.update(&old, &params).await.unwrap();
    let tab = tabs.get("nightly").await.unwrap();
    assert_eq!(tab.spec.time_zone.as_deref(), Some("Europe/Rome"));
    assert_eq!(tab.spec.schedule.minute.as_deref(), Some("30"));
    assert_eq!(tab.metadata.annotations, None);

    stop.cancel();
    running.await.unwrap();
    env.stop().await;
}
