//! Informers over sockets, whose connections they read in their own tasks.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use kubesmith_runtime::client::connect;
use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
use kubesmith_testenv::TestEnv;

const PATIENCE: Duration = Duration::from_secs(60);

fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

async fn shows(informer: &SharedInformer<ConfigMap>, name: &str) {
    let shown = async {
        while informer.store().get("default", name).is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, shown).await.expect("the informer follows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_serves_requests_before_during_and_after_informers() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let client = connect(env.config().await.unwrap()).await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    // Leaves an idle connection behind, which an informer takes.
    api.create(&PostParams::default(), &map("before")).await.unwrap();

    let options = || InformerOptions::new().namespace("default");
    let paged = options().paged_lists();
    let first = SharedInformer::<ConfigMap>::new(client.clone(), paged);
    let second = SharedInformer::<ConfigMap>::new(client.clone(), options());
    let secrets = SharedInformer::<Secret>::new(client.clone(), InformerOptions::new());
    first.start();
    second.start();
    secrets.start();
    shows(&first, "before").await;
    shows(&second, "before").await;
    secrets.wait_for_sync(PATIENCE).await.unwrap();

    api.create(&PostParams::default(), &map("during")).await.unwrap();
    shows(&first, "during").await;
    shows(&second, "during").await;

    // A response that the informer's task has read for its connections continues without the task.
    first.shutdown().await;
    drop(first);
    for round in 0..3 {
        api.create(&PostParams::default(), &map(&format!("after-{round}"))).await.unwrap();
        shows(&second, &format!("after-{round}")).await;
    }
    second.shutdown().await;
    secrets.shutdown().await;
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), 5);
    env.stop().await;
}
