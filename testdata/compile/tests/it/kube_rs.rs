//! Types that keep kube-rs's derives have the clients, listers and informers of other types.

use std::time::Duration;

use case_kube_rs::User;
use case_kube_rs::v1::{Document, DocumentSpec};
use kube::CustomResourceExt;
use kube::api::{PatchParams, PostParams};
use kubesmith_expected::kube_rs::applyconfigurations::kube::v1::DocumentApplyConfiguration;
use kubesmith_expected::kube_rs::clientset::scheme::scheme;
use kubesmith_expected::kube_rs::{Clientset, SharedInformerFactory};
use kubesmith_testenv::TestEnv;
use serde_json::json;

#[tokio::test]
async fn kube_rs_types_have_clients_apply_and_listers() {
    let env = TestEnv::builder().crds([Document::crd()]).start().await.unwrap();
    let clients = Clientset::new(env.client());
    let documents = clients.kube_v1().documents().namespace("default");
    let object = Document::new("a", DocumentSpec { title: "A".to_owned(), copies: 2 });
    documents.create(&object, &PostParams::default()).await.unwrap();
    let printed = DocumentApplyConfiguration::new("a", "default").with_status(json!({ "copies": 1 }));
    documents.apply_status(&printed, &PatchParams::apply("printer")).await.unwrap();
    assert_eq!(documents.get_scale("a").await.unwrap().spec.unwrap().replicas, Some(2));

    let factory = SharedInformerFactory::builder(clients).build();
    let lister = factory.kube().v1().documents().lister();
    factory.start();
    factory.wait_for_cache_sync(Duration::from_secs(30)).await.unwrap();
    let cached = lister.namespace("default").get("a").unwrap();
    assert_eq!((cached.spec.copies, cached.status.as_ref().map(|status| status.copies)), (2, Some(1)));
    factory.shutdown().await;
    env.stop().await;
}

#[test]
fn kube_rs_type_is_in_the_scheme_under_its_kind() {
    let kinds = scheme();
    let kind = kinds.kinds().find(|kind| kind.group_version_kind().kind == "Account").unwrap();
    assert_eq!(kind.type_name(), std::any::type_name::<User>());
}
